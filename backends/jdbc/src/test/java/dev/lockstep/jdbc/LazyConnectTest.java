package dev.lockstep.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.servers.PostgresServer;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.SqlServer;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A service that starts while its engine is down. */
@Timeout(60)
class LazyConnectTest {
    private static PostgresServer server;

    @BeforeAll
    static void startServer() {
        server = Servers.require(() -> PostgresServer.builder().start());
    }

    @AfterAll
    static void stopServer() {
        if (server != null) {
            server.close();
        }
    }

    private static LockClient connect(String password, Duration requestTimeout) {
        String url = ServerDatabase.withUser(server.jdbcUrl(), SqlServer.USER, password);
        return LockClient.builder()
                .backend(JdbcLocks.at(url).createSchema(true))
                .requestTimeout(requestTimeout)
                .lazyConnect()
                .connect();
    }

    @Test
    void locksWhenTheServerIsBack() throws Exception {
        server.kill();
        try (LockClient client = connect(SqlServer.PASSWORD, Duration.ofSeconds(2))) {
            assertThatThrownBy(() -> client.lock("order:42").tryLock())
                    .isInstanceOf(LockUnavailableException.class)
                    .hasMessageContaining(":" + server.port());
            server.start();
            try (Lease lease =
                    client.lock("order:42").tryAcquire(Duration.ofSeconds(40)).orElseThrow()) {
                assertThat(lease.token()).isPositive();
                assertThat(client.inspect("order:42").holders()).hasSize(1);
            }
        }
    }

    @Test
    void aWrongPasswordIsToldByTheCalls() {
        // The call ends when the refusal comes, which may take some seconds on a busy machine.
        try (LockClient client = connect("s3cret", Duration.ofSeconds(30))) {
            assertThatThrownBy(() -> client.lock("order:42").lock())
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContaining("password")
                    .hasMessageNotContaining("s3cret");
        }
    }
}
