package dev.lockstep.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class RedisServerTest {
    @Test
    void plainServerAnswersAndForgetsOnRestart() {
        try (RedisServer redis = Servers.require(() -> RedisServer.builder().start())) {
            assertThat(redis.command("SET", "key", "välue")).isEqualTo("OK");
            assertThat(redis.command("GET", "key")).isEqualTo("välue");
            assertThat(redis.url()).isEqualTo("redis://127.0.0.1:" + redis.port());
            redis.restart();
            assertThat(redis.command("GET", "key")).isEmpty();
        }
    }

    @Test
    void persistentServerKeepsItsDataOverACrash() {
        try (RedisServer redis =
                Servers.require(() -> RedisServer.builder().persistent().start())) {
            redis.command("SET", "key", "value");
            redis.kill();
            redis.start();
            assertThat(redis.command("GET", "key")).isEqualTo("value");
        }
    }

    @Test
    void passwordAndUsersAreAskedFor() throws IOException {
        try (RedisServer redis = Servers.require(() -> RedisServer.builder()
                .password("secret")
                .user("alice on >wonder ~lock:* &* +@all")
                .user("bob on >builder ~* +get")
                .start())) {
            assertThat(redis.command("ACL", "USERS")).isEqualTo("alice\nbob\ndefault");
            try (RedisWire wire = new RedisWire(redis.port(), null)) {
                assertThatThrownBy(() -> wire.command("GET", "key")).hasMessageContaining("NOAUTH");
                wire.command("AUTH", "bob", "builder");
                assertThatThrownBy(() -> wire.command("SET", "key", "value")).hasMessageContaining("NOPERM");
            }
        }
    }

    @Test
    void evictionPolicyIsSet() {
        try (RedisServer redis = Servers.require(
                () -> RedisServer.builder().maxMemory(10_000_000, "allkeys-lru").start())) {
            assertThat(redis.command("CONFIG", "GET", "maxmemory-policy")).endsWith("allkeys-lru");
        }
    }

    @Test
    void wrongSettingIsReportedWithTheLog() {
        RedisServer.Builder builder = RedisServer.builder().setting("no-such-directive", "1");
        assertThatThrownBy(() -> Servers.require(builder::start))
                .isInstanceOf(ServerException.class)
                .hasMessageContaining("no-such-directive");
    }

    @Test
    void errorOfTheServerIsAnError() {
        try (RedisServer redis = Servers.require(() -> RedisServer.builder().start())) {
            assertThatThrownBy(() -> redis.command("NONSENSE"))
                    .isInstanceOf(ServerException.class)
                    .hasMessageContaining("NONSENSE");
        }
    }
}
