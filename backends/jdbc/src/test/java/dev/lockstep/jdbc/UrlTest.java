package dev.lockstep.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.Fallback;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockUnavailableException;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverPropertyInfo;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Properties;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Mistakes in a URL are not taken for a server that is down, and drivers are found wherever they are. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class UrlTest {
    /** Nothing listens at port 1, so a mistake has to be found without a server. */
    @Execution(ExecutionMode.CONCURRENT)
    @ParameterizedTest
    @CsvSource({
        "jdbc:postgresql://127.0.0.1:1/db?user=u&password=s3cret&sslmode=bogus, sslmode",
        "jdbc:postgresql://127.0.0.1:1/db?targetServerType=primry&password=s3cret, targetServerType",
        "jdbc:postgresql://127.0.0.1:1/db?connectTimeout=abc, connectTimeout",
        "jdbc:postgresql://127.0.0.1:1/db?socketTimeout=abc, socketTimeout",
        "jdbc:postgresql://127.0.0.1:1/db?preferQueryMode=best, preferQueryMode",
        "jdbc:postgresql://127.0.0.1:2330x/db?password=s3cret, port",
        "jdbc:postgresql://127.0.0.1:99999/db, port",
        "jdbc:mysql://127.0.0.1:1/db?connectTimeout=abc&password=s3cret, connectTimeout",
        "jdbc:mysql://127.0.0.1:1/db?sslMode=bogus, sslMode",
        "jdbc:mysql://u:s3cret@127.0.0.1:2330x/db, port",
        "jdbc:mysql://127.0.0.1:99999/db, port",
        "jdbc:mariadb://127.0.0.1:1/db?connectTimeout=abc, connectTimeout",
        "jdbc:mariadb://127.0.0.1:1/db?sslMode=bogus&password=s3cret, sslMode",
        "jdbc:mariadb://127.0.0.1:2330x/db, port",
        "jdbc:h2:mem:x;FOO=1, FOO",
        "jdbc:h2:mem:x;MODE=bogus;PASSWORD=s3cret, MODE",
        "jdbc:h2:tcp://127.0.0.1:1/x;FOO=1, FOO",
        "jdbc:h2:tcp://127.0.0.1:2330x/x, port",
        "jdbc:sqlite:FOLDER/locks.db?busy_timeout=abc, busy_timeout",
        "jdbc:sqlite:FOLDER/locks.db?date_class=bogus, date_class"
    })
    void aWrongParameterIsNamedAndNoReasonForAFallback(String url, String word, @TempDir Path folder) {
        String at = url.replace("FOLDER", folder.toString());
        assertThatThrownBy(() -> patient(at).connect())
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining(word)
                .satisfies(failure -> assertThat(printed(failure)).doesNotContain("s3cret"));
        assertThatThrownBy(() ->
                        patient(at).fallback(Fallback.thisJvmOnly()).connect().close())
                .isInstanceOf(LockConfigurationException.class);
    }

    /** PostgreSQL's driver reads it once the server has agreed to encrypt. */
    @Test
    void aFileWithoutCertificatesIsNamed(@TempDir Path folder) throws Exception {
        Path file = Files.writeString(folder.resolve("ca.pem"), "");
        try (ServerSocket server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
            Thread agreeing = new Thread(() -> agreeToEncrypt(server));
            agreeing.setDaemon(true);
            agreeing.start();
            String url = "jdbc:postgresql://127.0.0.1:" + server.getLocalPort()
                    + "/db?user=u&password=s3cret&sslmode=verify-ca&sslrootcert=" + file;
            assertThatThrownBy(() -> patient(url).connect())
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContaining("parameter sslrootcert")
                    .satisfies(failure -> assertThat(printed(failure)).doesNotContain("s3cret"));
        }
    }

    private static void agreeToEncrypt(ServerSocket server) {
        try {
            while (true) {
                Socket client = server.accept();
                client.getInputStream().readNBytes(8); // the request for it
                client.getOutputStream().write('S');
            }
        } catch (IOException e) {
            // The test is over.
        }
    }

    private static LockClient.Builder builder(String url) {
        return LockClient.builder().requestTimeout(Duration.ofSeconds(1)).url(url);
    }

    /** A mistake is found before any server is asked: no call waits for this timeout. */
    private static LockClient.Builder patient(String url) {
        return builder(url).requestTimeout(Duration.ofSeconds(20));
    }

    private static String printed(Throwable failure) {
        StringWriter text = new StringWriter();
        failure.printStackTrace(new PrintWriter(text));
        return text.toString();
    }

    @Execution(ExecutionMode.CONCURRENT)
    @ParameterizedTest
    @ValueSource(
            strings = {
                "jdbc:postgresql://127.0.0.1:1/db?sslmode=prefer&targetServerType=primary&connectTimeout=1",
                "jdbc:mysql://127.0.0.1:1/db?sslMode=DISABLED&connectTimeout=500",
                "jdbc:mariadb://127.0.0.1:1/db?sslMode=disable&connectTimeout=500",
                "jdbc:h2:tcp://127.0.0.1:1/x;LOCK_TIMEOUT=500"
            })
    void anUnreachableServerIsNoMistake(String url) {
        assertThatThrownBy(() -> builder(url).connect()).isInstanceOf(LockUnavailableException.class);
        try (LockClient client = builder(url).fallback(Fallback.thisJvmOnly()).connect()) {
            assertThat(client.lock("a").tryLock()).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "jdbc:postgresql://h/db?lockstep.poolSize=2&lockstep.poolSize=3",
                "jdbc:postgresql://h/db?lockstep.poolSize=2&a=b&lockstep.poolSize=2",
                "jdbc:postgresql://h/db?Lockstep.createSchema=true",
                "jdbc:postgresql://h/db?LOCKSTEP.poolSize=2",
                "jdbc:postgresql://h/db?lockstep.poolsize=2",
                "jdbc:postgresql://h/db?lockstep.=1",
                "jdbc:postgresql://h/db?lockstep.listen",
                "jdbc:postgresql://h/db?lockstep.listen=",
                "jdbc:postgresql://h/db?",
                "jdbc:postgresql://h/db?&lockstep.poolSize=2",
                "jdbc:postgresql://h/db?lockstep.poolSize=2&",
                "jdbc:mysql://h/db?a=b&&lockstep.poolSize=2",
                "jdbc:sqlite:locks.db?",
                "jdbc:h2:mem:x;lockstep.poolSize=2;lockstep.poolSize=3",
                "jdbc:h2:mem:x;Lockstep.poolSize=2",
                "jdbc:h2:mem:x;lockstep.=1",
                "jdbc:h2:mem:",
                "jdbc:h2:mem:;DB_CLOSE_DELAY=-1"
            })
    void aSettingOfLockstepThatIsWrongIsRefused(String url) {
        assertThatThrownBy(() -> JdbcEngine.at(url)).isInstanceOf(LockConfigurationException.class);
    }

    @Test
    void settingsOfLockstepAreNotTheDrivers() {
        Url url = Url.parse(
                "jdbc:postgresql://h/db?lockstep.poolSize=2&user=u&lockstep.listen=false&a=b", Settings.DEFAULTS);
        assertThat(url.url()).isEqualTo("jdbc:postgresql://h/db?user=u&a=b");
        assertThat(url.settings().poolSize()).isEqualTo(2);
        assertThat(url.settings().listen()).isFalse();
    }

    @ParameterizedTest
    @CsvSource({
        "jdbc:postgresql://h:5432/db?user=u, h:5432",
        "'jdbc:postgresql://a:5432,b/db', 'a:5432,b'",
        "jdbc:mysql://u:s3cret@h:3306/db, h:3306",
        "jdbc:mariadb:sequential://h/db, h",
        "jdbc:postgresql://[::1]:5432/db, [::1]:5432",
        "jdbc:h2:tcp://h:9092/./x;USER=u, h:9092",
        "jdbc:mysql://address=(host=h)(password=s3cret)/db,",
        "jdbc:mysql://(host=h;password=s3cret)/db,",
        "jdbc:sqlite:locks.db,",
        "jdbc:postgresql:db,"
    })
    void hostsAreShownAndCredentialsAreNot(String url, @Nullable String hosts) {
        assertThat(Url.hosts(url)).isEqualTo(hosts);
    }

    @ParameterizedTest
    @CsvSource({
        "jdbc:postgresql://h/db?sslmode=require&sslmode=disable, sslmode",
        "jdbc:postgresql://h/db?lockstep.poolSize=2&user=u&password=s3cret&user=s3cret, user",
        "jdbc:mysql://h/db?useSSL=true&a=b&USESSL=false, USESSL",
        "jdbc:mariadb://h/db?a=1&b=2&b=2, b",
        "jdbc:sqlite:locks.db?busy_timeout=1&busy_timeout=s3cret, busy_timeout",
        "jdbc:h2:mem:x;MODE=MySQL;USER=u;MODE=Oracle, MODE"
    })
    void aDriversParameterThatIsGivenTwiceIsRefused(String url, String parameter) {
        assertThatThrownBy(() -> Url.parse(url, Settings.DEFAULTS))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining("parameter " + parameter + " is given twice")
                .hasMessageNotContaining("s3cret");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "jdbc:postgresql://h/db?user=u&password=s3cret&lockstep.passwordFile=FILE",
                "jdbc:postgresql://h/db?lockstep.passwordFile=FILE&password=s3cret",
                "jdbc:mariadb://h/db?user=u&PASSWORD=s3cret&lockstep.passwordFile=FILE",
                "jdbc:mysql://u:s3cret@h/db?lockstep.passwordFile=FILE",
                "jdbc:mysql://address=(host=h)(password=s3cret)/db?lockstep.passwordFile=FILE",
                "jdbc:mysql://(host=h,password=s3cret)/db?lockstep.passwordFile=FILE",
                "jdbc:h2:tcp://h/x;USER=u;PASSWORD=s3cret;lockstep.passwordFile=FILE"
            })
    void aPasswordIsInOnePlace(String url, @TempDir Path folder) throws Exception {
        Path file = Files.writeString(folder.resolve("file"), "s3cret");
        assertThatThrownBy(() -> JdbcEngine.at(url.replace("FILE", file.toString())))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining("lockstep.passwordFile")
                .hasMessageNotContaining("s3cret");
        JdbcEngine engine = JdbcEngine.at(url.replaceFirst("[?&;]lockstep.passwordFile=FILE", ""));
        assertThatThrownBy(() -> engine.password(() -> "s3cret"))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageNotContaining("s3cret");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "jdbc:postgresql://h:5432/db?user=u&lockstep.passwordFile=FILE&sslpassword=x",
                "jdbc:postgresql://[::1]:5432/a@b?user=u&lockstep.passwordFile=FILE",
                "jdbc:mysql://u@h:3306/db?lockstep.passwordFile=FILE&trustCertificateKeyStorePassword=x"
            })
    void aUserMayBeInTheUrlWithoutItsPassword(String url, @TempDir Path folder) throws Exception {
        Path file = Files.writeString(folder.resolve("file"), "s3cret");
        JdbcEngine engine = JdbcEngine.at(url.replace("FILE", file.toString()));
        assertThat(engine.address()).contains(":");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "jdbc:postgresql://h/db?sslmode=require&user=u",
                "jdbc:postgresql://a:1,b:2/db",
                "jdbc:mysql://h/db?sessionVariables=a=1,b=2&user=u",
                "jdbc:mysql://address=(host=h)(port=1),address=(host=i)(port=1)/db",
                "jdbc:h2:mem:x;INIT=SET A=1\\;SET A=2;USER=u"
            })
    void parametersThatAreGivenOnceAreAccepted(String url) {
        assertThat(Url.parse(url, Settings.DEFAULTS).url()).isEqualTo(url);
    }

    @ParameterizedTest
    @CsvSource({
        "'CockroachDB CCL v24.1.2 (x86_64-pc-linux-gnu, built 2024/07/01 12:00:00, go1.22.3)', CockroachDB",
        "'CockroachDB OSS v19.2.12 (x86_64-unknown-linux-gnu, built 2021/01/19, go1.12.12)', CockroachDB",
        "'PostgreSQL 11.2-YB-2.18.0.0-b0 on x86_64-pc-linux-gnu, compiled by clang version 15.0.3, 64-bit', YugabyteDB",
        "'PostgreSQL 15.2-YB-2.25.0.0-b0 on x86_64-pc-linux-gnu, compiled by clang version 17.0.6, 64-bit', YugabyteDB",
        "'PostgreSQL 17.2 (Debian 17.2-1.pgdg120+1) on x86_64-pc-linux-gnu, compiled by gcc, 64-bit',",
        "'PostgreSQL 16.1 on aarch64-unknown-linux-gnu, compiled by gcc (GCC) 9.5.0, 64-bit',"
    })
    void databasesThatOnlyLookLikePostgresAreRecognised(String version, @Nullable String product) {
        assertThat(PostgresDialect.lookalike(version)).isEqualTo(product);
    }

    /** Its scheme is MySQL's, but no driver that the JVM knows takes it. */
    private static final String CONTEXT_URL = "jdbc:mysql:context://h/db";

    @Test
    void aDriverThatOnlyTheContextClassLoaderSeesIsFound(@TempDir Path folder) throws Exception {
        Path services = Files.createDirectories(folder.resolve("META-INF/services"));
        Files.writeString(services.resolve("java.sql.Driver"), ContextDriver.class.getName());
        Dialect dialect = Dialects.ofUrl(CONTEXT_URL);
        assertThatThrownBy(() -> OwnPool.source(CONTEXT_URL, dialect, Duration.ofSeconds(1)))
                .isInstanceOf(LockConfigurationException.class);
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        try (URLClassLoader context =
                new URLClassLoader(new URL[] {folder.toUri().toURL()}, UrlTest.class.getClassLoader())) {
            thread.setContextClassLoader(context);
            var source = OwnPool.source(CONTEXT_URL, dialect, Duration.ofSeconds(1));
            assertThatThrownBy(source::getConnection).hasMessage("reached");
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    /** A driver that nobody registers. */
    public static final class ContextDriver implements Driver {
        @Override
        public Connection connect(String url, Properties info) throws SQLException {
            throw new SQLException("reached");
        }

        @Override
        public boolean acceptsURL(String url) {
            return url.equals(CONTEXT_URL);
        }

        @Override
        public DriverPropertyInfo[] getPropertyInfo(String url, Properties info) {
            return new DriverPropertyInfo[0];
        }

        @Override
        public int getMajorVersion() {
            return 1;
        }

        @Override
        public int getMinorVersion() {
            return 0;
        }

        @Override
        public boolean jdbcCompliant() {
            return false;
        }

        @Override
        public @Nullable Logger getParentLogger() {
            return null;
        }
    }
}
