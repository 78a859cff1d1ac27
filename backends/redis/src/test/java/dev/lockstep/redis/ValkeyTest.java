package dev.lockstep.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.EngineInfo;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.redis.internal.StartUpCheck;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.Servers;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Valkey says that it is Redis 7.2.4, for old clients, and what it is beside that. */
@Timeout(600)
class ValkeyTest {
    private static final String REPORT =
            "# Server\r\nredis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:9.1.2\r\n";

    @Test
    void reportNamesValkeyAndItsOwnVersion() {
        Map<String, String> facts = StartUpCheck.facts(REPORT);
        assertThat(StartUpCheck.productAndVersion(facts)).isEqualTo("Valkey 9.1.2");
        assertThat(StartUpCheck.productAndVersion(Map.of("redis_version", "8.0.6")))
                .isEqualTo("Redis 8.0.6");
        assertThat(StartUpCheck.productAndVersion(Map.of())).isEmpty();
    }

    @Test
    void aServerThatIsRefusedIsNamed() {
        assertThatThrownBy(() -> StartUpCheck.check(REPORT + "role:slave\r\n", "10.0.0.1:6379", false, false))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageStartingWith("Valkey 10.0.0.1:6379 is a read-only replica.");
    }

    @Nested
    @Tag("soak")
    class Version9 {
        @Test
        void describeNamesIt() {
            try (RedisServer server = Servers.require(
                            () -> RedisServer.builder().valkey9().start());
                    LockClient client = LockClient.connect(server.url())) {
                EngineInfo info = client.describe();
                assertThat(info.product()).isEqualTo("Valkey");
                assertThat(info.version()).startsWith("9.");
            }
        }

        @Test
        void describeOfARedlockNamesIt() throws Exception {
            try (Redlocks set =
                    Redlocks.of(Redlocks.start(3, RedisServer.builder().valkey9()))) {
                LockClient client = set.client(Duration.ofSeconds(5));
                assertThat(client.describe().version()).startsWith("Valkey 9.");
            }
        }
    }
}
