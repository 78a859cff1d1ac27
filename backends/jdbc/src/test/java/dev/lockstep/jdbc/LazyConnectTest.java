package dev.lockstep.jdbc;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.servers.PostgresServer;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.SqlServer;
import dev.lockstep.tck.LazyConnectContract;
import java.time.Duration;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Tag("full")
class LazyConnectTest extends LazyConnectContract {
    @AutoClose
    private static PostgresServer server;

    @BeforeAll
    static void openServer() {
        server = Servers.require(() -> PostgresServer.builder().start());
    }

    @Override
    protected LockClient.Builder client() {
        return clientWith(SqlServer.PASSWORD);
    }

    private static LockClient.Builder clientWith(String password) {
        String url = ServerDatabase.withUser(server.jdbcUrl(), SqlServer.USER, password);
        return LockClient.builder().backend(JdbcEngine.at(url).createSchema(true));
    }

    @Override
    protected void stopServer() {
        server.kill();
    }

    @Override
    protected void startServer() {
        server.start();
    }

    @Override
    protected int port() {
        return server.port();
    }

    @Test
    @Timeout(60)
    void aWrongPasswordIsReportedByTheCalls() {
        // The call ends when the refusal comes, which may take some seconds on a busy machine.
        try (LockClient client = clientWith("s3cret")
                .requestTimeout(Duration.ofSeconds(30))
                .lazyConnect()
                .connect()) {
            assertThatThrownBy(() -> client.lock("order:42").lock())
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContaining("password")
                    .hasMessageNotContaining("s3cret");
        }
    }
}
