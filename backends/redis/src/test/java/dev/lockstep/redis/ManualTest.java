package dev.lockstep.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.LockClient;
import dev.lockstep.redis.redlock.RedlockEngine;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.Servers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.RedisClient;

/** The manuals' examples, which run. */
class ManualTest {
    private static final Path MANUALS = Path.of("../../docs/engines");
    private static final Path SOURCE = Path.of("src/test/java/dev/lockstep/redis/ManualTest.java");

    /** On another port, which is all that is not as in the manual. */
    @Test
    void theExamplesForRedisRun() {
        try (RedisServer server = Servers.require(() -> RedisServer.builder().start());
                RedisServer replica =
                        RedisServer.builder().replicaOf(server.port()).start()) {
            assertThat(replica.isAlive()).isTrue();
            int port = server.port();
            try (LockClient locks = LockClient.connect("redis://localhost:" + port)) {
                locks.lock("order:42").lock();
                locks.lock("order:42").unlock();
            }
            try (RedisClient jedis = RedisClient.create("localhost", port);
                    LockClient locks = LockClient.builder()
                            .backend(RedisEngine.on(jedis).replicas(1))
                            .connect()) {
                locks.lock("order:42").lock();
                locks.lock("order:42").unlock();
            }
        }
    }

    @Test
    void theExamplesForRedlockRun() throws Exception {
        try (Redlocks set = Redlocks.start(3)) {
            String url = Redlocks.url(set.servers());
            try (LockClient locks = LockClient.connect(url)) {
                locks.lock("order:42").lock();
                locks.lock("order:42").unlock();
            }
            try (RedisClient first =
                            RedisClient.create("localhost", set.server(0).port());
                    RedisClient second =
                            RedisClient.create("localhost", set.server(1).port());
                    RedisClient third =
                            RedisClient.create("localhost", set.server(2).port())) {
                // tag::redlock-clients
                try (LockClient locks = LockClient.builder()
                        .backend(RedlockEngine.on(first, second, third))
                        .connect()) {
                    locks.lock("order:42").lock();
                    locks.lock("order:42").unlock();
                }
                // end::redlock-clients
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"redis.md", "redlock.md"})
    void theExamplesAreTheOnesThatRun(String manual) throws IOException {
        String source = Files.readString(SOURCE).replaceAll("\\s+", " ");
        List<String> blocks = List.of(Files.readString(MANUALS.resolve(manual)).split("```", -1)).stream()
                .filter(block -> block.startsWith("java\n"))
                .toList();
        assertThat(blocks).hasSize(2);
        for (String block : blocks) {
            String code = block.substring("java\n".length())
                    .replace("redis://localhost:6379\"", "redis://localhost:\" + port")
                    .replace("\"redlock://redis-1,redis-2,redis-3\"", "url")
                    .replace("6379", "port")
                    .replaceAll("\\s+", " ")
                    .trim();
            assertThat(source).contains(code);
        }
    }
}
