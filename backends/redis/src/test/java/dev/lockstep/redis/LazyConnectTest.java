package dev.lockstep.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.Servers;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A service that starts while its engine is down. */
@Timeout(60)
class LazyConnectTest {
    @Test
    void locksWhenTheServerIsBack() throws Exception {
        try (RedisServer server = Servers.require(() -> RedisServer.builder().start())) {
            server.kill();
            LockClient.Builder builder = LockClient.builder()
                    .url(server.url())
                    .requestTimeout(Duration.ofSeconds(2))
                    .lazyConnect();
            try (LockClient client = builder.connect()) {
                assertThatThrownBy(() -> client.lock("order:42").tryLock())
                        .isInstanceOf(LockUnavailableException.class)
                        .hasMessageContaining(":" + server.port());
                server.start();
                try (Lease lease = client.lock("order:42")
                        .tryAcquire(Duration.ofSeconds(40))
                        .orElseThrow()) {
                    assertThat(lease.token()).isPositive();
                    assertThat(client.inspect("order:42").holders()).hasSize(1);
                }
            }
        }
    }
}
