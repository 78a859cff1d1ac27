package dev.lockstep.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockOptions;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.ReleaseNotConfirmedException;
import dev.lockstep.servers.PostgresServer;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.SqlServer;
import dev.lockstep.servers.TcpProxy;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.h2.tools.Server;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteDataSource;

/** Set-ups that cannot work are refused with an error that says what to do and contains no password. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("full")
class RefusalTest {
    @AutoClose
    private static PostgresServer server;

    @BeforeAll
    static void startServer() throws Exception {
        server = Servers.require(() -> PostgresServer.builder().start());
        execute(
                "CREATE ROLE poor LOGIN PASSWORD 's3cret'",
                "CREATE ROLE reader LOGIN PASSWORD 's3cret'",
                "REVOKE CREATE ON SCHEMA public FROM PUBLIC",
                "CREATE SCHEMA elsewhere");
        connect(url(SqlServer.USER, SqlServer.PASSWORD) + "&lockstep.createSchema=true")
                .close();
        execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader");
    }

    private static void execute(String... statements) throws Exception {
        try (Connection connection = DriverManager.getConnection(server.jdbcUrl(), SqlServer.USER, SqlServer.PASSWORD);
                Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        }
    }

    private static String url(String user, String password) {
        return ServerDatabase.withUser(server.jdbcUrl(), user, password);
    }

    private static LockClient connect(String url) {
        return LockClient.builder()
                .requestTimeout(Duration.ofSeconds(2))
                .url(url)
                .connect();
    }

    /** Everything that a log would show of an exception. */
    private static String printed(Throwable failure) {
        StringWriter text = new StringWriter();
        failure.printStackTrace(new PrintWriter(text));
        return text.toString();
    }

    private static void refused(String url, Class<? extends Exception> type, String... words) {
        refused(JdbcEngine.at(url), type, words);
    }

    private static void refused(JdbcEngine locks, Class<? extends Exception> type, String... words) {
        assertThatThrownBy(() -> LockClient.builder()
                        .requestTimeout(Duration.ofSeconds(2))
                        .backend(locks)
                        .connect())
                .isInstanceOf(type)
                .hasMessageContainingAll(words)
                .satisfies(failure -> assertThat(printed(failure)).doesNotContain("s3cret"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "jdbc:postgresql://127.0.0.1:PORT/db?user=u&password=s3cret",
                "jdbc:mysql://127.0.0.1:PORT/db?user=u&password=s3cret",
                "jdbc:mysql://u:s3cret@127.0.0.1:PORT/db",
                "jdbc:mariadb://127.0.0.1:PORT/db?user=u&password=s3cret",
                "jdbc:h2:tcp://127.0.0.1:PORT/./db;USER=u;PASSWORD=s3cret"
            })
    void noServer(String url) throws Exception {
        int port;
        try (ServerSocket socket = new ServerSocket(0)) {
            port = socket.getLocalPort();
        }
        // With the host, and without the credentials.
        assertThatThrownBy(() -> LockClient.builder()
                        .requestTimeout(Duration.ofMillis(300))
                        .url(url.replace("PORT", Integer.toString(port)))
                        .connect())
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContainingAll("to connect failed", " at 127.0.0.1:" + port)
                .satisfies(failure -> assertThat(printed(failure)).doesNotContain("s3cret"));
    }

    @Test
    void aServerThatIsBackInAMomentIsWaitedFor() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(server)) {
            proxy.cut();
            CompletableFuture<LockClient> connecting = CompletableFuture.supplyAsync(() -> LockClient.connect(
                    ServerDatabase.withUser(server.jdbcUrl(proxy.port()), SqlServer.USER, SqlServer.PASSWORD)));
            TimeUnit.MILLISECONDS.sleep(700); // as long as a restart takes
            proxy.heal();
            try (LockClient client = connecting.get(20, TimeUnit.SECONDS)) {
                assertThat(client.lock("back").tryLock()).isTrue();
            }
        }
    }

    @Test
    void anErrorNamesTheHost() throws Exception {
        try (LockClient client = connect(
                url(SqlServer.USER, SqlServer.PASSWORD) + "&lockstep.tablePrefix=hosts_&lockstep.createSchema=true")) {
            execute("DROP TABLE hosts_locks");
            assertThatThrownBy(client.lock("a")::tryLock)
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContaining("PostgreSQL at 127.0.0.1:" + server.port());
        }
    }

    /** Whatever it stops at, connecting ends after the request timeout (2 s), which this driver counts in whole seconds. */
    @ParameterizedTest
    @ValueSource(strings = {"", "revocations = 0", "INSERT INTO lockstep_sessions"})
    void aServerThatDoesNotAnswer(String request) {
        Duration bound = Duration.ofSeconds(6);
        Duration taken = timeOfRefusal(request);
        if (taken.compareTo(bound) > 0) {
            taken = timeOfRefusal(request); // a busy machine may make it longer, once
        }
        assertThat(taken).isLessThan(bound);
    }

    private static Duration timeOfRefusal(String request) {
        try (TcpProxy proxy = TcpProxy.to(server)) {
            if (request.isEmpty()) {
                proxy.blackHole();
            } else {
                proxy.dropReplyTo(request, Duration.ofSeconds(30));
            }
            long start = System.nanoTime();
            refused(
                    ServerDatabase.withUser(server.jdbcUrl(proxy.port()), SqlServer.USER, SqlServer.PASSWORD),
                    LockUnavailableException.class,
                    "to connect failed");
            return Duration.ofNanos(System.nanoTime() - start);
        }
    }

    @Test
    void aWrongPassword() {
        refused(url(SqlServer.USER, "s3cret"), LockConfigurationException.class, "password");
    }

    @Test
    void noPassword() {
        refused(server.jdbcUrl() + "?user=" + SqlServer.USER, LockConfigurationException.class, "password");
    }

    @Test
    void encryptionThatTheServerLacks() {
        refused(
                url(SqlServer.USER, SqlServer.PASSWORD) + "&sslmode=require",
                LockConfigurationException.class,
                "does not support SSL");
    }

    /** A server that cannot start a process for a client answers as one without encryption would, and that passes. */
    @Test
    void encryptionThatTheServerLostIsAnOutageForAConnectedClient() throws Exception {
        String url = url(SqlServer.USER, SqlServer.PASSWORD);
        Duration timeout = Duration.ofSeconds(2);
        DataSource before = OwnPool.source(url, new PostgresDialect(), timeout);
        DataSource after = OwnPool.source(url + "&sslmode=require", new PostgresDialect(), timeout);
        AtomicBoolean encrypted = new AtomicBoolean();
        DataSource changing = HurtSource.proxy(
                DataSource.class,
                (self, method, arguments) -> HurtSource.invoke(encrypted.get() ? after : before, method, arguments));
        try (LockClient client = LockClient.builder()
                .requestTimeout(timeout)
                .backend(JdbcEngine.over(changing))
                .connect()) {
            encrypted.set(true);
            assertThatThrownBy(client.lock("a")::lock).isInstanceOf(LockUnavailableException.class);
            encrypted.set(false);
            assertThat(client.lock("a").tryLock(10, TimeUnit.SECONDS)).isTrue();
            client.lock("a").unlock();
        }
    }

    @Test
    void aDatabaseThatH2LacksAndMayNotCreate(@TempDir Path folder) throws Exception {
        Server h2 = Server.createTcpServer("-tcpPort", "0", "-baseDir", folder.toString())
                .start();
        try {
            refused(
                    "jdbc:h2:tcp://localhost:" + h2.getPort() + "/./nowhere",
                    LockConfigurationException.class,
                    "nowhere");
            refused(
                    "jdbc:h2:" + folder.resolve("nowhere") + ";IFEXISTS=TRUE",
                    LockConfigurationException.class,
                    "nowhere");
        } finally {
            h2.stop();
        }
    }

    @Test
    void aWrongPasswordOfAFile(@TempDir Path folder) throws Exception {
        String url = "jdbc:h2:" + folder.resolve("secret") + ";CIPHER=AES;USER=u;PASSWORD=";
        DriverManager.getConnection(url + "right right").close(); // the last one closes the file
        refused(url + "s3cret right", LockConfigurationException.class, "Encryption error");
    }

    @Test
    void anUnknownDatabase() {
        refused(
                url(SqlServer.USER, SqlServer.PASSWORD).replace("/lockstep?", "/nowhere?"),
                LockConfigurationException.class,
                "nowhere");
    }

    @Test
    void noRightToCreateTheTables() {
        refused(
                url("poor", "s3cret") + "&lockstep.tablePrefix=poor_&lockstep.createSchema=true",
                LockConfigurationException.class,
                "to create the tables",
                "permission denied");
    }

    @Test
    void noRightToReadTheTables() {
        refused(url("poor", "s3cret"), LockConfigurationException.class, "may not use them", "permission denied");
    }

    @Test
    void noRightToWriteTheTables() {
        refused(url("reader", "s3cret"), LockConfigurationException.class, "permission denied", "INSERT");
    }

    @Test
    void aRightThatIsRevokedLater() throws Exception {
        execute("CREATE ROLE fallen LOGIN PASSWORD 's3cret'", "GRANT ALL ON ALL TABLES IN SCHEMA public TO fallen");
        try (LockClient client = connect(url("fallen", "s3cret"))) {
            client.lock("a").lock();
            client.lock("a").unlock();
            execute("REVOKE ALL ON lockstep_locks FROM fallen");
            assertThatThrownBy(client.lock("a")::lock)
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContaining("'a'")
                    .hasMessageContaining("permission denied");
            execute("GRANT ALL ON lockstep_locks TO fallen");
        }
    }

    /** Without UPDATE the session is not renewed, and without INSERT there is no other when it was lost. */
    @ParameterizedTest
    @ValueSource(strings = {"UPDATE", "INSERT"})
    void aRightToKeepASessionThatIsRevokedLater(String right) throws Exception {
        Duration ttl = Duration.ofSeconds(1);
        String user = "tired_" + right;
        execute(
                "CREATE ROLE " + user + " LOGIN PASSWORD 's3cret'",
                "GRANT ALL ON ALL TABLES IN SCHEMA public TO " + user);
        try (LockClient client = LockClient.builder()
                .ttl(ttl)
                .url(url(user.toLowerCase(Locale.ROOT), "s3cret"))
                .connect()) {
            DistributedLock lock = client.lock("a");
            lock.lock();
            lock.unlock();
            execute("REVOKE " + right + " ON lockstep_sessions FROM " + user, "DELETE FROM lockstep_sessions");
            TimeUnit.MILLISECONDS.sleep(2 * ttl.toMillis()); // the test shows the state after the session has expired
            assertThatThrownBy(lock::lock)
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContaining("'a'")
                    .hasMessageContaining("permission denied");
            execute("GRANT ALL ON lockstep_sessions TO " + user);
            Awaitility.await("it works again").ignoreExceptions().until(lock::tryLock);
        }
    }

    @Test
    void aTableThatIsDroppedLater() throws Exception {
        String url =
                url(SqlServer.USER, SqlServer.PASSWORD) + "&lockstep.tablePrefix=brief_&lockstep.createSchema=true";
        try (LockClient client = connect(url)) {
            execute("DROP TABLE brief_locks");
            assertThatThrownBy(client.lock("a")::tryLock)
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContaining("brief_locks");
        }
    }

    @Test
    void anotherSchema() {
        String url = url(SqlServer.USER, SqlServer.PASSWORD) + "&lockstep.schema=elsewhere&lockstep.createSchema=true";
        try (LockClient here = connect(url(SqlServer.USER, SqlServer.PASSWORD));
                LockClient there = connect(url)) {
            assertThat(here.lock("a").tryLock()).isTrue();
            assertThat(there.lock("a").tryLock()).isTrue();
            here.lock("a").unlock();
            there.lock("a").unlock();
        }
    }

    @Test
    void aDataSourceThatFailsInItsOwnWay() {
        String message = "not today, with password=s3cret";
        refused(
                JdbcEngine.over(failing(new IllegalStateException(message))),
                LockUnavailableException.class,
                "to connect failed",
                "not today");
        refused(
                JdbcEngine.over(failing(new IllegalStateException(new SQLException(message, "28P01")))),
                LockConfigurationException.class,
                "to connect failed",
                "not today");
    }

    /**
     * Locks that were held are released when the pool lends connections again, and callers see only errors of their own
     * calls.
     */
    @Test
    void aDataSourceThatFailsInItsOwnWayForAWhile(@TempDir Path folder) throws Exception {
        Duration timeout = Duration.ofSeconds(2);
        SQLiteDataSource file = new SQLiteDataSource();
        file.setUrl("jdbc:sqlite:" + folder.resolve("locks.db"));
        AtomicBoolean failing = new AtomicBoolean();
        DataSource source = HurtSource.proxy(DataSource.class, (self, method, arguments) -> {
            if (failing.get()) {
                throw new IllegalStateException("not today, with password=s3cret");
            }
            return HurtSource.invoke(file, method, arguments);
        });
        try (LockClient client = LockClient.builder()
                        .requestTimeout(timeout)
                        .retryBackoff(Duration.ofMillis(10), Duration.ofMillis(100))
                        .backend(JdbcEngine.over(source))
                        .connect();
                LockClient other =
                        LockClient.builder().backend(JdbcEngine.over(file)).connect()) {
            DistributedLock lock = client.lock("a");
            lock.lock();
            failing.set(true);
            for (Executable call : List.<Executable>of(lock::unlock, client.lock("b")::lock)) {
                assertThatThrownBy(call::execute)
                        .isInstanceOfAny(ReleaseNotConfirmedException.class, LockUnavailableException.class)
                        .satisfies(failure -> assertThat(printed(failure)).doesNotContain("s3cret"));
            }
            failing.set(false);
            assertThat(other.lock("a").tryLock(10, TimeUnit.SECONDS)).isTrue();
            other.lock("a").unlock();
        }
    }

    private static DataSource failing(RuntimeException failure) {
        return HurtSource.proxy(DataSource.class, (self, method, arguments) -> {
            throw failure;
        });
    }

    @Test
    void aDriverThatFailsInItsOwnWayLeavesNoConnection(@TempDir Path folder) {
        String url = "jdbc:sqlite:" + folder.resolve("locks.db");
        Duration timeout = Duration.ofSeconds(2);
        List<Connection> made = new CopyOnWriteArrayList<>();
        HurtSource source =
                new HurtSource(OwnPool.source(url, new SqliteDialect(), timeout), new AtomicLong(), timeout);
        source.before(sql -> {
            throw new IllegalStateException("not today");
        });
        refused(
                JdbcEngine.at(url).driver(watched(source, made)),
                LockUnavailableException.class,
                "to connect failed",
                "not today");
        for (Connection connection : made) {
            Awaitility.await("it is closed").until(connection::isClosed);
        }
        assertThat(made).isNotEmpty();
    }

    @Test
    void aDriverThatFailsInItsOwnWayToListenLeavesNoConnection() {
        String url = url(SqlServer.USER, SqlServer.PASSWORD);
        Duration timeout = Duration.ofSeconds(5);
        List<Connection> made = new CopyOnWriteArrayList<>();
        HurtSource source =
                new HurtSource(OwnPool.source(url, new PostgresDialect(), timeout), new AtomicLong(), timeout);
        source.before(sql -> {
            if (sql.startsWith("LISTEN")) {
                throw new IllegalStateException("not today");
            }
        });
        try (LockClient client = LockClient.builder()
                .backend(JdbcEngine.at(url).driver(watched(source, made)))
                .connect()) {
            assertThat(client.lock("polled").tryLock()).isTrue();
            client.lock("polled").unlock();
        }
        for (Connection connection : made) {
            Awaitility.await("it is closed").until(connection::isClosed);
        }
        assertThat(made).isNotEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "CockroachDB, 'CockroachDB CCL v24.1.2 (x86_64-pc-linux-gnu, built 2024/07/01 12:00:00, go1.22.3)'",
        "YugabyteDB, 'PostgreSQL 15.2-YB-2.25.0.0-b0 on x86_64-pc-linux-gnu, compiled by clang version 17.0.6, 64-bit'"
    })
    void aDatabaseThatOnlyLooksLikePostgresIsRefused(String product, String version) {
        String url = url(SqlServer.USER, SqlServer.PASSWORD);
        DataSource postgres = OwnPool.source(url, new PostgresDialect(), Duration.ofSeconds(5));
        DataSource other = HurtSource.proxy(DataSource.class, (self, method, arguments) -> {
            Object result = HurtSource.invoke(postgres, method, arguments);
            return result instanceof Connection connection ? saying(version, connection) : result;
        });
        refused(JdbcEngine.at(url).driver(other), LockConfigurationException.class, product, "Use PostgreSQL itself");
    }

    /** A connection to a database that says of itself that it has another version. */
    private static Connection saying(String version, Connection connection) {
        return HurtSource.proxy(Connection.class, (self, method, arguments) -> {
            if (arguments != null && arguments.length > 0 && "SELECT version()".equals(arguments[0])) {
                arguments[0] = "SELECT '" + version + "'";
            }
            return HurtSource.invoke(connection, method, arguments);
        });
    }

    /** Passes on a data source, and keeps the connections that it makes. */
    private static DataSource watched(DataSource source, List<Connection> made) {
        return HurtSource.proxy(DataSource.class, (self, method, arguments) -> {
            Object result = HurtSource.invoke(source, method, arguments);
            if (result instanceof Connection connection) {
                made.add(connection);
            }
            return result;
        });
    }

    @Test
    void anUnknownProductIsNamed() {
        DataSource other = HurtSource.proxy(
                DataSource.class,
                (self, method, arguments) -> HurtSource.proxy(
                        Connection.class,
                        (connection, call, parameters) -> call.getReturnType() == DatabaseMetaData.class
                                ? HurtSource.proxy(DatabaseMetaData.class, (meta, question, none) -> "Oracle")
                                : null));
        assertThatThrownBy(() ->
                        LockClient.builder().backend(JdbcEngine.over(other)).connect())
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining("Oracle")
                .hasMessageContaining("jdbc:postgresql:");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "1a", "a-b", "a;b", "a'b", "a\"b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"})
    void aPrefixThatIsNoIdentifier(String prefix) {
        assertThatThrownBy(() -> JdbcEngine.at("jdbc:h2:mem:x").tablePrefix(prefix))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> JdbcEngine.at("jdbc:h2:mem:x").schema(prefix))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void settingsThatCannotWork() {
        JdbcEngine locks = JdbcEngine.at("jdbc:h2:mem:x");
        assertThatThrownBy(() -> locks.poolSize(0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> locks.poolSize(100_000)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> locks.idleNames(Duration.ofHours(1))).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> JdbcEngine.ddl("oracle")).isInstanceOf(LockConfigurationException.class);
    }

    @Test
    void nothingRepeatsThePassword() {
        String url = "jdbc:postgresql://localhost/db?user=u&password=s3cret";
        assertThat(JdbcEngine.at(url).toString()).contains("PostgreSQL").doesNotContain("s3cret");
    }

    @Test
    void aPasswordInTheCauseOfAFailureIsNotRepeated() {
        SQLException inside = new SQLException("cannot use jdbc:x://u:s3cret@host/db?password=s3cret&a=b", "08001");
        SQLException pool = new SQLException("no connection", inside);
        for (SQLException failure : new SQLException[] {inside, pool}) {
            Failure kind = Failure.of(failure, new PostgresDialect());
            assertThat(kind).isEqualTo(Failure.UNREACHABLE);
            assertThat(Failure.of(Failure.withoutSecrets(failure), new PostgresDialect()))
                    .isEqualTo(kind);
            assertThat(printed(kind.toException("a", "PostgreSQL", "to try", failure)))
                    .contains("'a'")
                    .doesNotContain("s3cret");
        }
    }

    @Test
    void aFullDisk(@TempDir Path folder) throws Exception {
        String url = "jdbc:sqlite:" + folder.resolve("full.db");
        connect(url).close();
        // SQLite has a quota of its own, which answers as a full disk does; the page size makes names fill it quickly.
        try (LockClient client = connect(url + "?max_page_count=30")) {
            assertThatThrownBy(() -> {
                        for (int i = 0; i < 1_000; i++) {
                            client.lock(i + "x".repeat(500)).lock();
                        }
                    })
                    .isInstanceOf(LockUnavailableException.class)
                    .hasMessageContaining("Lock '");
        }
    }

    /** SQLite ends the transaction by itself, and its connection can then neither roll back nor leave it. */
    @Test
    void aDiskThatIsFullInTheMiddleOfATransaction(@TempDir Path folder) throws Exception {
        String url = "jdbc:sqlite:" + folder.resolve("full.db");
        String name = "x".repeat(500);
        try (LockClient holder = connect(url);
                LockClient client = connect(url + "?max_page_count=30")) {
            holder.lock(name).lock();
            List<CompletableFuture<Lease>> waiting = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                waiting.add(client.lock(name, LockOptions.defaults().fair()).acquireAsync());
            }
            Awaitility.await("three are refused")
                    .until(() -> waiting.stream()
                                    .filter(CompletableFuture::isCompletedExceptionally)
                                    .count()
                            >= 3);
            for (CompletableFuture<Lease> refused : waiting) {
                if (refused.isDone()) {
                    assertThatThrownBy(refused::get).hasCauseInstanceOf(LockUnavailableException.class);
                }
            }
            holder.lock(name).unlock();
        }
    }

    @Test
    void aReadOnlyFile(@TempDir Path folder) {
        String url = "jdbc:sqlite:" + folder.resolve("locks.db");
        connect(url).close();
        SQLiteConfig config = new SQLiteConfig();
        config.setReadOnly(true);
        SQLiteDataSource source = new SQLiteDataSource(config);
        source.setUrl(url);
        assertThatThrownBy(() ->
                        LockClient.builder().backend(JdbcEngine.over(source)).connect())
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining("rejects writes");
    }

    @Test
    void aFileInAFolderThatIsNotThere(@TempDir Path folder) {
        refused("jdbc:sqlite:" + folder.resolve("no/such/locks.db"), LockUnavailableException.class, "to connect");
    }

    @Test
    void aFileThatIsNoDatabase(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("text.db");
        Files.writeString(file, "this is not a database, but a text that is long enough to look like one");
        refused("jdbc:sqlite:" + file, LockConfigurationException.class, "not a database");
    }
}
