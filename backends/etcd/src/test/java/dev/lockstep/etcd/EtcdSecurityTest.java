package dev.lockstep.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockLostException;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.servers.EtcdServer;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.TestCertificates;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Users, passwords, tokens and certificates. */
@Tag("full")
class EtcdSecurityTest extends EtcdTestCase {
    private static final String PASSWORD = "s3cret/@?";
    private static final String ENCODED = "s3cret%2F%40%3F";

    /** The first encrypted connection of a busy JVM takes its time, and so do passwords on the server. */
    @Override
    LockClient.Builder builder() {
        return super.builder().requestTimeout(Duration.ofSeconds(20));
    }

    private EtcdServer startWithUsers(EtcdServer.Builder builder) {
        EtcdServer server = closedAfterwards(Servers.require(builder::start));
        Gateway gateway = new Gateway(server);
        user(gateway, "root", "root");
        role(gateway, "root");
        grant(gateway, "root", "root");
        user(gateway, "app", PASSWORD);
        role(gateway, "locks");
        allow(gateway, "READWRITE");
        grant(gateway, "app", "locks");
        user(gateway, "nobody", PASSWORD);
        gateway.post("/v3/auth/enable", "{}");
        return server;
    }

    private static void user(Gateway gateway, String name, String password) {
        gateway.post("/v3/auth/user/add", "{\"name\":\"" + name + "\",\"password\":\"" + password + "\"}");
    }

    private static void role(Gateway gateway, String name) {
        gateway.post("/v3/auth/role/add", "{\"name\":\"" + name + "\"}");
    }

    /** The requests that users with the role for locks may make. */
    private static void allow(Gateway gateway, String what) {
        gateway.post(
                "/v3/auth/role/grant",
                "{\"name\":\"locks\",\"perm\":{\"permType\":\"" + what + "\",\"key\":\"" + Gateway.base64("lockstep/")
                        + "\",\"range_end\":\"" + Gateway.base64("lockstep0") + "\"}}");
    }

    private static void grant(Gateway gateway, String user, String role) {
        gateway.post("/v3/auth/user/grant", "{\"user\":\"" + user + "\",\"role\":\"" + role + "\"}");
    }

    /** Takes, waits, hands over and shares, so that every kind of request is made. */
    private static void exercise(LockClient one, LockClient two) throws Exception {
        Lease held = one.lock(NAME).acquireAsync().get(20, TimeUnit.SECONDS);
        CompletableFuture<Lease> waiting = two.lock(NAME).acquireAsync();
        await("it waits", () -> one.inspect(NAME).waiters().size() == 1);
        assertThat(two.lock(NAME).tryLock()).isFalse();
        held.close();
        waiting.get(20, TimeUnit.SECONDS).close();
        Lease reader = one.readWriteLock(NAME).readLock().acquireAsync().get(20, TimeUnit.SECONDS);
        two.readWriteLock(NAME)
                .readLock()
                .acquireAsync()
                .get(20, TimeUnit.SECONDS)
                .close();
        reader.close();
        one.lock(NAME).lock();
        assertThat(two.forceRelease(NAME)).isTrue();
        assertThatThrownBy(one.lock(NAME)::unlock).isInstanceOf(LockLostException.class);
    }

    @Test
    void aUserWithTheRightsLocks() throws Exception {
        EtcdServer server = startWithUsers(EtcdServer.builder());
        String url = "etcd://app:" + ENCODED + "@" + server.address();
        LockClient one = connect(url);
        assertThat(one.describe().version()).startsWith("3.");
        exercise(one, connect(url));
    }

    @Test
    void aUserWithoutTheRightsGetsAnError() {
        EtcdServer server = startWithUsers(EtcdServer.builder());
        for (String user : new String[] {"app:wrong", "unknown:" + ENCODED, "nobody:" + ENCODED}) {
            assertThatThrownBy(() -> connect("etcd://" + user + "@" + server.address()))
                    .as(user)
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContaining(server.address())
                    .satisfies(failure -> assertThat(trace(failure)).doesNotContain("wrong", "s3cret"));
        }
        assertThatThrownBy(() -> connect("etcd://" + server.address())).isInstanceOf(LockConfigurationException.class);
    }

    @Test
    void aUserThatMayOnlyReadGetsAnErrorWhenItsSessionHasEnded() throws Exception {
        EtcdServer server = startWithUsers(EtcdServer.builder());
        LockClient client = connect("etcd://app:" + ENCODED + "@" + server.address());
        Gateway operator = new Gateway(server);
        operator.login("root", "root");
        allow(operator, "READ");
        operator.list("lockstep/" + namespace + "/client/").forEach(session -> operator.revoke(session.lease()));
        // A claim may still be made in the old session, and see its own write.
        await("the session is refused", () -> {
            Throwable told =
                    catchThrowable(() -> client.lock(NAME).acquireAsync().get(20, TimeUnit.SECONDS));
            assertThat(told)
                    .hasCauseInstanceOf(LockConfigurationException.class)
                    .hasMessageContaining("read and write access");
            return String.valueOf(told.getMessage()).contains("opening a session");
        });
        allow(operator, "READWRITE");
        await("it goes on", () -> {
            try {
                return client.lock(NAME).tryLock();
            } catch (LockConfigurationException e) {
                return false;
            }
        });
        client.lock(NAME).unlock();
    }

    /** Keepalives need no right, so that its lease could live as long as the process. */
    @Test
    void aLockOfAUserThatLostAllRightsIsFreeAfterTheTtl() throws Exception {
        EtcdServer server = startWithUsers(EtcdServer.builder());
        LockClient client = closedAfterwards(builder()
                .ttl(SHORT_TTL)
                .url("etcd://app:" + ENCODED + "@" + server.address())
                .connect());
        LockClient other = connect("etcd://root:root@" + server.address());
        Lease held = client.lock(NAME).acquireAsync().get();
        Gateway operator = new Gateway(server);
        operator.login("root", "root");
        operator.post("/v3/auth/user/revoke", "{\"name\":\"app\",\"role\":\"locks\"}");
        other.lock(NAME).acquireAsync().get(30, TimeUnit.SECONDS).close();
        assertThat(held.isValid()).isFalse();
        grant(operator, "app", "locks");
        await("it goes on", () -> {
            try {
                return client.lock(NAME).tryLock();
            } catch (LockConfigurationException | LockLostException e) {
                return false;
            }
        });
    }

    private static String trace(Throwable failure) {
        StringWriter text = new StringWriter();
        failure.printStackTrace(new PrintWriter(text));
        return text.toString();
    }

    @Test
    void credentialsAreInNoDescription() {
        EtcdEngine engine = EtcdEngine.at("localhost").tls(Path.of("ca.pem")).user("app", PASSWORD);
        assertThat(engine.toString()).isEqualTo("etcds://localhost:2379");
        assertThat(new EtcdProvider()
                        .parse("etcd://app:" + ENCODED + "@localhost")
                        .toString())
                .isEqualTo("etcd://localhost:2379");
    }

    /** All except the frames that gRPC's network library logs when it is asked to. */
    @Test
    void noLogHasCredentials() throws Exception {
        EtcdServer server = startWithUsers(EtcdServer.builder());
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Dorg.slf4j.simpleLogger.defaultLogLevel=trace",
                        "-Dorg.slf4j.simpleLogger.log.io.grpc.netty.shaded=info",
                        "-cp",
                        System.getProperty("java.class.path"),
                        LoggingMain.class.getName())
                .redirectErrorStream(true)
                .start();
        try (Writer input = process.outputWriter()) {
            input.write("etcd://app:" + ENCODED + "@" + server.address() + "\n");
        }
        String log = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(log).isZero();
        assertThat(log)
                .contains("LockConfigurationException")
                .doesNotContain(
                        "s3cret", Gateway.base64(PASSWORD), HexFormat.of().formatHex(PASSWORD.getBytes()));
    }

    /** Uses a lock, as the URL on standard input says, and then a wrong password. */
    static final class LoggingMain {
        private LoggingMain() {}

        public static void main(String[] args) throws Exception {
            String url = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)).readLine();
            LockClient.Builder builder = LockClient.builder().requestTimeout(Duration.ofSeconds(50));
            try (LockClient client = builder.url(url).connect()) {
                client.lock(NAME).lock();
                client.lock(NAME).unlock();
            }
            try (LockClient client = builder.url(url.replace("app:", "app:x")).connect()) {
                throw new AssertionError(client + " has connected");
            } catch (LockConfigurationException e) {
                e.printStackTrace();
            }
        }
    }

    /** A member that was restarted knows no token of before. */
    @Test
    void aTokenThatWasForgottenIsRenewed() throws Exception {
        EtcdServer server = startWithUsers(EtcdServer.builder());
        String url = "etcd://app:" + ENCODED + "@" + server.address();
        LockClient one = connect(url);
        LockClient two = connect(url);
        Lease held = one.lock(NAME).acquireAsync().get();
        CompletableFuture<Lease> waiting = two.lock(NAME).acquireAsync();
        await("it waits", () -> one.inspect(NAME).waiters().size() == 1);
        server.restart();
        await("it answers", () -> one.inspect(NAME).name().equals(NAME));
        assertThat(held.isValid()).isTrue();
        held.close();
        waiting.get(20, TimeUnit.SECONDS).close();
        exercise(one, two);
    }

    @Test
    void aTokenThatExpiresIsRenewed() throws Exception {
        TestCertificates certificates = TestCertificates.get();
        EtcdServer server = startWithUsers(EtcdServer.builder()
                .flag(
                        "auth-token",
                        "jwt,pub-key=" + certificates.serverCertificate() + ",priv-key=" + certificates.serverKey()
                                + ",sign-method=ES256,ttl=2s"));
        LockClient.Builder builder = builder().ttl(SHORT_TTL.multipliedBy(2)); // less than it is held for
        String url = "etcd://app:" + ENCODED + "@" + server.address();
        LockClient one = closedAfterwards(builder.url(url).connect());
        LockClient two = connect(url);
        Lease kept = one.lock("kept").acquireAsync().get();
        TimeUnit.SECONDS.sleep(5); // two lives of a token
        exercise(one, two);
        assertThat(kept.isValid()).isTrue();
        kept.close();
    }

    @Test
    void tlsWithClientCertificates() throws Exception {
        TestCertificates certificates = TestCertificates.get();
        EtcdServer server = closedAfterwards(Servers.require(
                () -> EtcdServer.builder().mutualTls(certificates).start()));
        String url = "etcds://" + server.address() + "?ca=" + certificates.caCertificate() + "&cert="
                + certificates.clientCertificate() + "&key=" + certificates.clientKey();
        LockClient byEngine = closedAfterwards(builder()
                .backend(EtcdEngine.at(server.address())
                        .tls(certificates.caCertificate())
                        .clientCertificate(certificates.clientCertificate(), certificates.clientKey()))
                .connect());
        exercise(connect(url), byEngine);
    }

    @Test
    void withoutTheRightCertificatesNoClientConnects() {
        TestCertificates certificates = TestCertificates.get();
        TestCertificates others = TestCertificates.get("other");
        EtcdServer server = closedAfterwards(Servers.require(
                () -> EtcdServer.builder().mutualTls(certificates).start()));
        String address = server.address();
        String[] refused = {
            "etcd://" + address,
            "etcds://" + address,
            "etcds://" + address + "?ca=" + certificates.caCertificate(),
            "etcds://" + address + "?ca=" + others.caCertificate() + "&cert=" + certificates.clientCertificate()
                    + "&key=" + certificates.clientKey(),
            "etcds://" + address + "?ca=" + certificates.caCertificate() + "&cert=" + others.clientCertificate()
                    + "&key=" + others.clientKey(),
        };
        for (String url : refused) {
            assertThatThrownBy(() -> closedAfterwards(builder()
                            .requestTimeout(Duration.ofSeconds(1))
                            .url(url)
                            .connect()))
                    .as(url)
                    .isInstanceOf(LockUnavailableException.class)
                    .hasMessageContaining(address);
        }
        for (String url : new String[] {
            "etcds://" + address + "?ca=/nowhere.pem",
            "etcds://" + address + "?cert=" + certificates.clientKey() + "&key=" + certificates.clientKey()
        }) {
            assertThatThrownBy(() -> connect(url)).as(url).isInstanceOf(LockConfigurationException.class);
        }
    }
}
