package dev.lockstep.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.DistributedLock;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.servers.MySqlServer;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.SqlServer;
import dev.lockstep.tck.Capability;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** The contract, and what is to be shown on MySQL and not on MariaDB. */
abstract class MySqlOnlyContract extends MySqlContract {
    @AutoClose
    private static @Nullable SqlServer server;

    /** Starts the server, or skips the class. */
    static void startServer(MySqlServer.Builder builder) {
        server = Servers.require(builder::start);
    }

    private static SqlServer server() {
        return Objects.requireNonNull(server);
    }

    @Override
    SqlFixture.Database database() {
        return new ServerDatabase(
                server(), SqlServer.USER, SqlServer.PASSWORD, SqlFixture.common(Capability.RESTART_SERVER));
    }

    @Test
    void encryptionThatTheServerLacksIsAWrongSetUp() {
        SqlFixture.execute(database().url(), "SET GLOBAL tls_version = ''");
        SqlFixture.execute(database().url(), "ALTER INSTANCE RELOAD TLS NO ROLLBACK ON ERROR"); // others do without
        assertTlsIsAWrongSetUp("REQUIRED");
    }

    /** Its driver can prepare them on the server, but only if an option says so. */
    @Test
    void tooManyPreparedStatementsAreNotAWrongSetUp() {
        String url = database().url() + "&useServerPrepStmts=true&emulateUnsupportedPstmts=false";
        try (TestClient test = TestClient.open(url, namespace)) {
            DistributedLock lock = test.client().lock("a");
            SqlFixture.execute(database().url(), "SET GLOBAL max_prepared_stmt_count = 0");
            try {
                for (Executable call : List.<Executable>of(lock::tryLock, lock::lock)) {
                    assertThatThrownBy(call::execute)
                            .isInstanceOf(LockUnavailableException.class)
                            .hasMessageContaining("max_prepared_stmt_count");
                }
            } finally {
                SqlFixture.execute(database().url(), "SET GLOBAL max_prepared_stmt_count = 16382");
            }
            assertThat(lock.tryLock()).isTrue();
            lock.unlock();
        }
    }

    /** Waits for locks that are not necessary. */
    @Nested
    class Deadlocks {
        @Test
        void sixteenThreadsCauseNone() throws Exception {
            MySqlDeadlocks.assertNone(
                    server(),
                    database().url(),
                    "SELECT COUNT FROM information_schema.INNODB_METRICS WHERE NAME = 'lock_deadlocks'");
        }
    }
}
