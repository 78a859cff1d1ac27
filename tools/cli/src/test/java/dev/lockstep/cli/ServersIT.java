package dev.lockstep.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.LockClient;
import dev.lockstep.cli.Launched.Run;
import dev.lockstep.servers.EtcdServer;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.ZooKeeperServer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The command on real servers: what an engine says of itself, wrong passwords, and each of the demos. */
@Timeout(180)
class ServersIT {
    private static final String SECRET = "hush-hush";

    @TempDir
    private Path folder;

    private Launched start(String url, String... args) throws IOException {
        return Launched.start(folder, Map.of("LOCKSTEP_URL", url), args);
    }

    private Run run(String url, String... args) throws IOException, InterruptedException {
        try (Launched launched = start(url, args)) {
            return launched.end();
        }
    }

    private static void assertRefusedWithoutSecret(Run run, String secret) {
        assertThat(run.code()).as(run.err()).isEqualTo(ExitCodes.USAGE);
        assertThat(run.out()).isEmpty();
        assertThat(run.err())
                .startsWith("lockstep: ")
                .contains("password")
                .doesNotContain(secret)
                .hasLineCount(1);
    }

    @Test
    void redis() throws Exception {
        try (RedisServer redis =
                Servers.require(() -> RedisServer.builder().password(SECRET).start())) {
            String url = "redis://:" + SECRET + "@" + redis.address();
            assertRefusedWithoutSecret(run("redis://:wrong-one@" + redis.address(), "ls"), "wrong-one");

            Run ping = run(url, "ping");
            assertThat(ping.code()).as(ping.err()).isZero();
            assertThat(ping.out())
                    .containsPattern("\nRedis +\\d+\\.\\d+\\.\\d+ .* [+-]\\d+\\.\\d ms \\(give or take \\d+\\.\\d\\)\n")
                    .contains("- A crashed holder's lock is free after 30000 ms")
                    .contains("- No replica:")
                    .contains("- No append-only file:")
                    .doesNotContain(SECRET);

            saleOnRedisIsExactAndShowsNoPassword(url);
        }
    }

    private void saleOnRedisIsExactAndShowsNoPassword(String url) throws Exception {
        try (Launched demo = start(url, "demo", "--kill", "--json", "--ttl", "3", "--buyers", "200", "--stock", "60")) {
            ProcessHandle handle = ProcessHandle.of(demo.pid()).orElseThrow();
            List<String> workers = workers(handle);
            while (handle.isAlive() && workers.size() < 3) {
                workers = workers(handle);
            }
            assertThat(workers).hasSize(3).noneMatch(line -> line.contains(SECRET));
            Run run = demo.end();
            assertThat(run.code()).as(run.toString()).isZero();
            assertThat(run.out())
                    .contains("\"engine\":\"redis\"")
                    .contains("\"killed\":true")
                    .contains("\"sold\":60,\"turnedAway\":140,\"oversold\":0,\"lost\":0");
        }
    }

    /** The command lines of a demo's processes, as everybody on the machine sees them. */
    private static List<String> workers(ProcessHandle demo) {
        return demo.descendants()
                .map(process -> process.info().commandLine().orElse(""))
                .filter(line -> line.contains(" worker "))
                .toList();
    }

    @Test
    @Tag("full")
    void redlock() throws Exception {
        try (RedisServer one = Servers.require(() -> RedisServer.builder().start());
                RedisServer two = RedisServer.builder().start();
                RedisServer three = RedisServer.builder().start()) {
            List<RedisServer> servers = List.of(one, two, three);
            servers.forEach(ServersIT::letItVote);
            String url = "redlock://" + one.address() + "," + two.address() + "," + three.address();
            Run ping = run(url, "ping");
            assertThat(ping.code()).as(ping.err()).isZero();
            assertThat(ping.out()).containsPattern("\nRedlock on 3 servers +(Redis|Valkey) \\d+\\.\\d+\\.\\d+");

            two.kill(); // which a majority does not need
            try (Launched exec = start(url, "exec", "nightly", "--", "sh", "-c", "echo $LOCKSTEP_TOKEN; sleep 60")) {
                assertThat(exec.line()).matches("\\d+");
                assertThat(run(url, "exec", "--try", "nightly", "--", "true").code())
                        .isEqualTo(ExitCodes.BUSY);
                assertThat(run(url, "ls").out()).contains("nightly");
                assertThat(run(url, "inspect", "nightly").out()).contains("holder  exclusive");
                Run release = run(url, "release", "--force", "--yes", "nightly");
                assertThat(release.code()).as(release.err()).isZero();
                assertThat(exec.end().code()).isEqualTo(ExitCodes.LOST);
            }
            assertThat(run(url, "inspect", "nightly").out()).startsWith("free");
        }
    }

    /** As if it had long been up: a server that was just started has no vote. */
    private static void letItVote(RedisServer server) {
        server.command("HSET", "lockstep:redlock", "run", server.info("run_id"), "born", "1", "servers", "3");
    }

    @Test
    @Tag("full")
    void zooKeeper() throws Exception {
        try (ZooKeeperServer server =
                Servers.require(() -> ZooKeeperServer.builder().start())) {
            String url = "zookeeper://" + server.address();
            Run ping = run(url, "ping");
            assertThat(ping.code()).as(ping.err()).isZero();
            assertThat(ping.out())
                    .containsPattern("\nZooKeeper +3\\.\\d+\\.\\d+ .* does not matter\n")
                    .contains("- One server alone:");

            Run numbers = run(url, "demo", "order-numbers", "--numbers", "60", "--threads", "3");
            assertThat(numbers.code()).as(numbers.toString()).isZero();
            assertThat(numbers.out()).containsPattern("with a lock +60 +0 +yes +yes ");
        }
    }

    @Test
    void etcd() throws Exception {
        try (EtcdServer server = Servers.require(() -> EtcdServer.builder().start())) {
            String url = "etcd://" + server.address();
            Run ping = run(url, "ping", "--json");
            assertThat(ping.code()).as(ping.err()).isZero();
            assertThat(ping.err()).as("what etcd's client logs").isEmpty();
            assertThat(ping.out())
                    .containsPattern("\"product\":\"etcd\",\"version\":\"3\\.\\d+\\.\\d+\"")
                    .contains("\"One member alone:")
                    .doesNotContain("clockAhead");

            Run pause = run(url, "demo", "pause", "--ttl", "6");
            assertThat(pause.code()).as(pause.toString()).isZero();
            assertThat(pause.out())
                    .contains("process 1 is notified that it has lost the lock")
                    .contains("process 1 writes with its token: refused")
                    .contains("The pause did no harm");
        }
    }

    @Test
    void wrongPasswordOfADatabase() throws Exception {
        String url = "jdbc:h2:file:" + folder.resolve("locks") + ";USER=sa;PASSWORD=";
        LockClient.connect(url + SECRET).close();
        assertRefusedWithoutSecret(run(url + "wrong-one", "ls"), "wrong-one");
    }
}
