package dev.lockstep.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class ProgramTest {
    @TempDir
    private Path folder;

    private Path script(String name, String... lines) throws IOException {
        Path script = Files.write(folder.resolve(name), List.of(lines));
        assertThat(script.toFile().setExecutable(true)).isTrue();
        return script;
    }

    @Nested
    class FromTheEnvironment {
        @Test
        void variableNamesTheBinary() throws IOException {
            Path binary = script("valkey-server", "#!/bin/sh");
            Map<String, String> environment = Map.of("LOCKSTEP_REDIS_SERVER", binary.toString());
            assertThat(Program.chosen("redis-server", environment::get))
                    .hasValueSatisfying(program -> assertThat(program.path()).isEqualTo(binary));
        }

        @Test
        void variableMayNameTheFolderOfTheBinary() throws IOException {
            Path binary = script("postgres", "#!/bin/sh");
            Map<String, String> environment = Map.of("LOCKSTEP_POSTGRES", folder.toString());
            assertThat(Program.chosen("postgres", environment::get))
                    .hasValueSatisfying(program -> assertThat(program.path()).isEqualTo(binary));
        }

        @Test
        void withoutTheVariableNothingIsChosen() {
            assertThat(Program.chosen("etcd", name -> null)).isEmpty();
            assertThat(Program.chosen("etcd", name -> "")).isEmpty();
        }

        @Test
        void somethingThatCannotRunIsAnErrorAndNotASkippedTest() throws IOException {
            Path text = Files.writeString(folder.resolve("text"), "not a program");
            for (Path wrong : List.of(text, folder, folder.resolve("missing"))) {
                Map<String, String> environment = Map.of("LOCKSTEP_ETCD", wrong.toString());
                assertThatThrownBy(() -> Servers.require(() -> Program.chosen("etcd", environment::get), false))
                        .isInstanceOf(ServerException.class)
                        .isNotInstanceOf(ServerUnavailableException.class)
                        .hasMessageContaining("LOCKSTEP_ETCD")
                        .hasMessageContaining(wrong.toString());
            }
        }
    }

    @Nested
    class Wrapped {
        @Test
        void signalsReachTheServerBehindAScriptThatExecs() throws IOException {
            Program server = Servers.require(() -> Program.find("redis-server", "redis-server", "redis-tools"));
            Path script = script("wrapper", "#!/bin/sh", "exec '" + server.path() + "' \"$@\"");
            Program wrapper = new Program(script, server.environment());
            try (RedisServer redis =
                    RedisServer.builder().from(() -> wrapper).persistent().start()) {
                assertThat(redis.info("process_id")).isEqualTo(Long.toString(redis.pid()));
                redis.pause();
                await().atMost(Duration.ofSeconds(10))
                        .until(() -> Files.readString(Path.of("/proc", Long.toString(redis.pid()), "stat"))
                                .contains(") T "));
                redis.resume();
                redis.command("SET", "key", "value");
                redis.kill();
                redis.start();
                assertThat(redis.command("GET", "key")).isEqualTo("value");
            }
        }
    }
}
