package dev.lockstep.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.servers.MySqlServer;
import dev.lockstep.servers.PostgresServer;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.SqlServer;
import dev.lockstep.servers.TcpProxy;
import dev.lockstep.servers.TestCertificates;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Passwords and certificates change while a client is open. */
@Timeout(120)
class RotationTest {
    private static final Duration TTL = Duration.ofSeconds(3);

    @TempDir
    private Path folder;

    @Test
    void aPasswordOfPostgresThatHasChangedIsReadAgain() throws Exception {
        try (SqlServer server = Servers.require(() -> PostgresServer.builder().start())) {
            passwordThatHasChanged(
                    server, "ALTER ROLE app PASSWORD 'new'", "CREATE ROLE app LOGIN SUPERUSER PASSWORD 'old'");
        }
    }

    @Test
    @Tag("full")
    void aPasswordOfMySqlThatHasChangedIsReadAgain() throws Exception {
        try (SqlServer server = Servers.require(() -> MySqlServer.builder().start())) {
            passwordThatHasChanged(
                    server,
                    "ALTER USER 'app'@'%' IDENTIFIED BY 'new'",
                    "CREATE USER 'app'@'%' IDENTIFIED BY 'old'",
                    "GRANT ALL ON *.* TO 'app'@'%'");
        }
    }

    @Test
    @Tag("full")
    void aPasswordOfMariaDbThatHasChangedIsReadAgain() throws Exception {
        try (SqlServer server = Servers.require(() -> MySqlServer.mariaDb().start())) {
            passwordThatHasChanged(
                    server,
                    "ALTER USER 'app'@'%' IDENTIFIED BY 'new'",
                    "CREATE USER 'app'@'%' IDENTIFIED BY 'old'",
                    "GRANT ALL ON *.* TO 'app'@'%'");
        }
    }

    /** From its file, and from a supplier. */
    private void passwordThatHasChanged(SqlServer server, String change, String... create) throws Exception {
        Path file = Files.writeString(folder.resolve("password"), "old\n");
        AtomicReference<String> supplied = new AtomicReference<>("old");
        for (String statement : create) {
            execute(server, statement);
        }
        try (TcpProxy proxy = TcpProxy.to(server);
                LockClient locks =
                        connect(url(server.jdbcUrl(proxy.port()), "user=app&lockstep.passwordFile=" + file));
                LockClient others = builder()
                        .backend(JdbcEngine.at(url(server.jdbcUrl(proxy.port()), "user=app"))
                                .password(supplied::get))
                        .connect()) {
            Lease held = locks.lock("held").acquireAsync().get();
            Lease heldByOthers = others.lock("held by others").acquireAsync().get();

            execute(server, change);
            Files.writeString(file, "new\n");
            supplied.set("new");
            proxy.resetConnections();

            await().during(TTL)
                    .atMost(TTL.multipliedBy(3))
                    .until(() -> held.isValid() && heldByOthers.isValid()); // renewed by new connections
            assertThat(locks.lock("one").tryLock()).isTrue();
            assertThat(others.lock("two").tryLock()).isTrue();
            held.close();
            heldByOthers.close();
        }
        assertThatThrownBy(() -> connect(url(server.jdbcUrl(), "user=app&password=old")))
                .isInstanceOf(LockConfigurationException.class);
    }

    @Test
    @Tag("full")
    void certificatesToTrustAreReadAgain() throws Exception {
        Path trust = trust("usual");
        try (SqlServer server = withTls(MySqlServer.builder());
                TcpProxy proxy = TcpProxy.to(server)) {
            String url = url(server.jdbcUrl(proxy.port()).replaceAll("\\?.*", ""), "sslMode=VERIFY_CA")
                    + "&fallbackToSystemTrustStore=false&trustCertificateKeyStoreType=PKCS12"
                    + "&trustCertificateKeyStorePassword=" + TestCertificates.PASSWORD
                    + "&trustCertificateKeyStoreUrl=" + trust.toUri();
            try (LockClient locks = connect(ServerDatabase.withUser(url, SqlServer.USER, SqlServer.PASSWORD))) {
                locks.lock("one").lock();
                locks.lock("one").unlock();
                trust("other");
                proxy.resetConnections();
                assertThatThrownBy(() -> locks.lock("two").tryLock()).isInstanceOf(LockUnavailableException.class);
                trust("usual");
                await().ignoreExceptions().until(() -> locks.lock("two").tryLock());
            }
        }
    }

    @Test
    @Tag("full")
    void aFileWithoutCertificatesIsRefused() throws Exception {
        Path trust = Files.writeString(folder.resolve("trust.p12"), "");
        try (SqlServer server = withTls(MySqlServer.builder())) {
            String url = server.jdbcUrl().replaceAll("\\?.*", "") + "?user=u&password=s3cret";
            refused(
                    url + "&sslMode=VERIFY_CA&fallbackToSystemTrustStore=false&trustCertificateKeyStoreUrl="
                            + trust.toUri(),
                    "parameter trustCertificateKeyStoreUrl");
        }
        try (SqlServer server = withTls(MySqlServer.mariaDb())) {
            String url = server.jdbcUrl().replaceAll("\\?.*", "") + "?user=u&password=s3cret&sslMode=verify-ca";
            refused(url + "&serverSslCert=" + trust, "trustAnchors");
            refused(url + "&trustStore=" + trust, "Failed load keyStore");
        }
    }

    private static void refused(String url, String words) {
        assertThatThrownBy(() -> connect(url))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining(words)
                .hasMessageNotContaining("s3cret");
    }

    private static SqlServer withTls(MySqlServer.Builder server) {
        TestCertificates certificates = TestCertificates.get();
        return Servers.require(
                () -> server.option("ssl-ca", certificates.caCertificate().toString())
                        .option("ssl-cert", certificates.serverCertificate().toString())
                        .option("ssl-key", certificates.serverKey().toString())
                        .start());
    }

    private Path trust(String authority) throws Exception {
        return Files.copy(
                TestCertificates.get(authority).trustStore(),
                folder.resolve("trust.p12"),
                StandardCopyOption.REPLACE_EXISTING);
    }

    private static String url(String url, String more) {
        return url + (url.contains("?") ? '&' : '?') + more;
    }

    private static void execute(SqlServer server, String statement) throws Exception {
        try (Connection operator = DriverManager.getConnection(server.jdbcUrl(), SqlServer.USER, SqlServer.PASSWORD);
                Statement sql = operator.createStatement()) {
            sql.execute(statement);
        }
    }

    private static LockClient connect(String url) {
        return builder().url(url(url, "lockstep.createSchema=true")).connect();
    }

    private static LockClient.Builder builder() {
        return LockClient.builder().ttl(TTL).requestTimeout(Duration.ofSeconds(2));
    }
}
