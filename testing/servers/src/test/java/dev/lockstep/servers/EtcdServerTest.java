package dev.lockstep.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class EtcdServerTest {
    private static final HttpClient PLAIN = HttpClient.newHttpClient();

    @Test
    void singleMemberKeepsItsDataOverACrash() throws Exception {
        try (EtcdServer etcd = Servers.require(() -> EtcdServer.builder().start())) {
            put(PLAIN, etcd, "key", "value");
            assertThat(etcd.isLeader()).isTrue();
            assertThat(etcd.metric("grpc_server_started_total", "grpc_method=\"Put\""))
                    .isEqualTo(1);
            etcd.kill();
            etcd.start();
            assertThat(get(PLAIN, etcd, "key")).contains(base64("value"));
        }
    }

    @Test
    @Tag("full")
    void clusterElectsAnotherLeaderWhenItsLeaderIsKilled() throws Exception {
        try (ServerGroup<EtcdServer> cluster =
                Servers.require(() -> EtcdServer.builder().startCluster(3))) {
            EtcdServer leader = cluster.find(EtcdServer::isLeader);
            put(PLAIN, leader, "key", "value");
            leader.kill();
            await().atMost(Duration.ofSeconds(20))
                    .ignoreExceptions()
                    .until(() -> cluster.find(EtcdServer::isLeader).isReady());
            leader.start();
            assertThat(get(PLAIN, leader, "key")).contains(base64("value"));
        }
    }

    @Test
    @Tag("full")
    void aLeaderThatIsCutOffAnswersItsClientsWhileTheOthersElectAnother() throws Exception {
        try (ProxiedLinks links = new ProxiedLinks();
                ServerGroup<EtcdServer> cluster =
                        Servers.require(() -> EtcdServer.builder().startCluster(3, links))) {
            EtcdServer leader = cluster.find(EtcdServer::isLeader);
            put(PLAIN, leader, "key", "before");
            links.cutOff(cluster.servers().indexOf(leader));
            await().atMost(Duration.ofSeconds(20))
                    .ignoreExceptions()
                    .until(() -> cluster.find(member -> member != leader && member.isLeader())
                            .isReady());
            EtcdServer next = cluster.find(member -> member != leader && member.isLeader());
            put(PLAIN, next, "key", "after");
            assertThat(post(PLAIN, leader, "range", "{\"key\":\"" + base64("key") + "\",\"serializable\":true}"))
                    .contains(base64("before"));
            await().atMost(Duration.ofSeconds(20)).until(() -> !leader.isLeader());
            links.heal();
            await().atMost(Duration.ofSeconds(20))
                    .until(() -> cluster.servers().stream()
                            .allMatch(member -> member.metric("etcd_server_has_leader", "") == 1));
            for (EtcdServer member : cluster.servers()) {
                assertThat(get(PLAIN, member, "key")).contains(base64("after"));
            }
        }
    }

    @Test
    @Tag("full")
    void aFollowerThatIsCutOffHearsOfNothingUntilItIsHealed() throws Exception {
        try (ProxiedLinks links = new ProxiedLinks();
                ServerGroup<EtcdServer> cluster =
                        Servers.require(() -> EtcdServer.builder().startCluster(3, links))) {
            EtcdServer leader = cluster.find(EtcdServer::isLeader);
            EtcdServer follower = cluster.find(member -> !member.isLeader());
            links.cutOff(cluster.servers().indexOf(follower));
            await().atMost(Duration.ofSeconds(20)).until(() -> follower.metric("etcd_server_has_leader", "") == 0);
            put(PLAIN, leader, "key", "value");
            assertThat(leader.isLeader()).isTrue();
            links.heal();
            await().atMost(Duration.ofSeconds(20))
                    .until(() -> get(PLAIN, follower, "key").contains(base64("value")));
        }
    }

    @Test
    @Tag("full")
    void tlsAsksForTheClientsCertificate() throws Exception {
        TestCertificates certificates = TestCertificates.get();
        HttpClient client =
                HttpClient.newBuilder().sslContext(certificates.clientContext()).build();
        try (EtcdServer etcd = Servers.require(
                () -> EtcdServer.builder().mutualTls(certificates).start())) {
            assertThat(etcd.url()).startsWith("https://");
            put(client, etcd, "key", "value");
            assertThat(get(client, etcd, "key")).contains(base64("value"));
            assertThatThrownBy(() -> get(PLAIN, etcd, "key")).isInstanceOf(IOException.class);
        }
    }

    @Test
    @Tag("full")
    void aSlowDiskDelaysWritesUntilItIsRepaired() throws Exception {
        Duration delay = Duration.ofMillis(700);
        try (EtcdServer etcd = Servers.require(() -> EtcdServer.builder().start())) {
            assertThat(timeOfPut(etcd)).isLessThan(delay);
            try (SlowDisk disk = Servers.require(() -> SlowDisk.of(etcd, delay))) {
                assertThat(timeOfPut(etcd)).isGreaterThanOrEqualTo(delay);
            }
            assertThat(timeOfPut(etcd)).isLessThan(delay);
        }
    }

    /** The shortest of some, since a machine may be busy once. */
    private static Duration timeOfPut(EtcdServer etcd) throws Exception {
        long best = Long.MAX_VALUE;
        for (int i = 0; i < 3; i++) {
            long start = System.nanoTime();
            put(PLAIN, etcd, "key", "value");
            best = Math.min(best, System.nanoTime() - start);
        }
        return Duration.ofNanos(best);
    }

    private static void put(HttpClient client, EtcdServer etcd, String key, String value) throws Exception {
        String body = "{\"key\":\"" + base64(key) + "\",\"value\":\"" + base64(value) + "\"}";
        assertThat(post(client, etcd, "put", body)).contains("revision");
    }

    private static String get(HttpClient client, EtcdServer etcd, String key) throws Exception {
        return post(client, etcd, "range", "{\"key\":\"" + base64(key) + "\"}");
    }

    private static String post(HttpClient client, EtcdServer etcd, String operation, String body) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(etcd.url() + "/v3/kv/" + operation))
                .timeout(Duration.ofSeconds(10))
                .POST(BodyPublishers.ofString(body))
                .build();
        return client.send(request, BodyHandlers.ofString()).body();
    }

    private static String base64(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }
}
