package dev.lockstep.jdbc;

import static dev.lockstep.jdbc.SqlBench.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.servers.HostFaults;
import dev.lockstep.servers.MySqlServer;
import dev.lockstep.servers.PostgresServer;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.SqlServer;
import dev.lockstep.tck.SecondProcess;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Faults of the machines that databases and clients run on: clocks that are off, disks that are full. */
@Tag("full")
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class MachineTest {
    private static final String NAMESPACE = "machines";

    /** The databases that are servers, with clocks and disks of their own. */
    private enum Database {
        POSTGRES(host -> PostgresServer.builder().on(host).start()),
        MYSQL(host -> MySqlServer.builder().on(host).start()),
        MARIADB(host -> MySqlServer.mariaDb().on(host).start());

        private final Function<HostFaults, SqlServer> start;

        Database(Function<HostFaults, SqlServer> start) {
            this.start = start;
        }
    }

    private HostFaults host;

    @BeforeEach
    void create() {
        host = Servers.require(HostFaults::create);
    }

    @AfterEach
    void close() {
        host.close();
    }

    private SqlServer start(Database database) throws Exception {
        SqlServer server = Servers.require(() -> database.start.apply(host));
        // Without the rights that let administrators write to a server that is read-only.
        String rights = database == Database.POSTGRES
                ? "CREATE ROLE tck LOGIN PASSWORD 'tck'; GRANT ALL ON SCHEMA public TO tck"
                : "CREATE USER tck IDENTIFIED BY 'tck'; GRANT ALL ON lockstep.* TO tck";
        execute(server, rights.split("; "));
        return server;
    }

    private static void execute(SqlServer server, String... statements) throws Exception {
        try (Connection connection = DriverManager.getConnection(server.jdbcUrl(), SqlServer.USER, SqlServer.PASSWORD);
                Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        }
    }

    private static String url(SqlServer server) {
        return ServerDatabase.withUser(server.jdbcUrl(), "tck", "tck");
    }

    /** Connects, in several tries: a request may be given less than a busy machine takes to make tables. */
    private static LockClient connect(SqlServer server) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SOON);
        while (true) {
            try {
                return connectOnce(server);
            } catch (LockUnavailableException e) {
                if (System.nanoTime() - end > 0) {
                    throw e;
                }
            }
        }
    }

    private static LockClient connectOnce(SqlServer server) {
        return LockClient.builder()
                .namespace(NAMESPACE)
                .requestTimeout(Duration.ofSeconds(2))
                .backend(JdbcEngine.at(url(server)).createSchema(true))
                .connect();
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    void clientsWhoseClocksAreHoursOffHoldNoLongerAndNoShorter(Database database) throws Exception {
        Duration ttl = Duration.ofSeconds(3);
        try (SqlServer server = start(database);
                LockClient here = connect(server);
                HostFaults ahead = HostFaults.create();
                HostFaults behind = HostFaults.create()) {
            ahead.clockOff(Duration.ofHours(3));
            behind.clockOff(Duration.ofHours(-3));
            try (SecondProcess early = SecondProcess.start(url(server), NAMESPACE, ttl, behind.environment());
                    SecondProcess late = SecondProcess.start(url(server), NAMESPACE, ttl, ahead.environment())) {
                assertThat(early.ask("acquire a")).isEqualTo("ok");
                assertThat(late.ask("acquire b")).isEqualTo("ok");
                // Longer than the ttl: both are renewed, and nobody's clock says that they have expired.
                assertThat(here.lock("a").tryLock(ttl.toMillis() * 3 / 2, TimeUnit.MILLISECONDS))
                        .isFalse();
                assertThat(early.ask("try b")).isEqualTo("busy");
                assertThat(late.ask("try a")).isEqualTo("busy");
                long ofEarly = Long.parseLong(early.ask("token a"));
                long ofLate = Long.parseLong(late.ask("token b"));
                early.kill();
                late.kill();
                assertThat(next(here, "a")).isGreaterThan(ofEarly);
                assertThat(next(here, "b")).isGreaterThan(ofLate);
            }
            // The database's own clock does not lower a token either.
            long token = next(here, "a");
            host.clockOff(Duration.ofHours(-1));
            assertThat(next(here, "a")).isGreaterThan(token);
        }
    }

    private static long next(LockClient client, String name) throws InterruptedException {
        try (Lease lease =
                client.lock(name).tryAcquire(Duration.ofSeconds(SOON)).orElseThrow()) {
            return lease.token();
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    void aFullDiskIsAnErrorAndNoGrant(Database database) throws Exception {
        try (SqlServer server = start(database);
                LockClient client = connect(server);
                LockClient rival = connect(server)) {
            Lease held = client.lock("held").acquireAsync().get(SOON, TimeUnit.SECONDS);
            host.diskFull(true);
            String[] last = new String[1];
            assertThatThrownBy(() -> {
                        for (int i = 0; i < 5_000; i++) {
                            last[0] = i + "x".repeat(500);
                            client.lock(last[0]).lock();
                        }
                    })
                    .isInstanceOf(LockUnavailableException.class)
                    .hasMessageContaining("Lock '")
                    .hasMessageContaining("its disk is full");
            assertThat(held.isValid()).isTrue();
            assertThat(rival.lock("held").tryLock()).isFalse();
            host.diskFull(false);
            assertThat(rival.lock(last[0]).tryLock(SOON, TimeUnit.SECONDS)).isTrue();
            rival.lock(last[0]).unlock();
            held.closeAsync().get(SOON, TimeUnit.SECONDS);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"MYSQL", "MARIADB"}) // PostgreSQL's crash is in PostgresTest
    void locksSurviveACrashOfTheServerUnderLoad(Database database) throws Exception {
        try (SqlServer server = start(database);
                LockClient one = connect(server);
                LockClient two = connect(server)) {
            Lease held = one.lock("held").acquireAsync().get(SOON, TimeUnit.SECONDS);
            Exercise exercise = new Exercise(List.of(one, two));
            exercise.start();
            exercise.awaitProgress(50);
            server.kill();
            server.start();
            exercise.awaitProgress(50);
            exercise.stop();
            exercise.assertRight(100);
            assertThat(held.isValid()).isTrue();
            assertThat(two.lock("held").tryLock()).isFalse();
            held.closeAsync().get(SOON, TimeUnit.SECONDS);
            assertThat(two.lock("held").tryLock()).isTrue();
            two.lock("held").unlock();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"MYSQL", "MARIADB"}) // PostgreSQL's standbys are in PostgresTest
    void aReadOnlyServerIsAnErrorAndNotBusy(Database database) throws Exception {
        try (SqlServer server = start(database);
                LockClient client = connect(server)) {
            client.lock("a").lock();
            client.lock("a").unlock();
            execute(server, "SET GLOBAL read_only = 1");
            assertThatThrownBy(client.lock("a")::tryLock)
                    .isInstanceOf(LockUnavailableException.class)
                    .hasMessageContaining("'a'")
                    .hasMessageContaining("read-only");
            assertThatThrownBy(() -> connectOnce(server)).isInstanceOf(LockUnavailableException.class);
            execute(server, "SET GLOBAL read_only = 0");
            assertThat(client.lock("a").tryLock(SOON, TimeUnit.SECONDS)).isTrue();
            client.lock("a").unlock();
        }
    }
}
