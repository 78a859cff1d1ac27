package dev.lockstep.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.cli.Launched.Run;
import dev.lockstep.servers.EtcdServer;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.ZooKeeperServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The output of {@code explain}, compared with the pages in {@code docs/engines/steps}, which the documentation quotes.
 * If an engine locks in another way on purpose, generate them again: {@code ./lockstep explain NAME >
 * docs/engines/steps/NAME.md}.
 */
@Timeout(180)
class ExplainIT {
    private static final Path STEPS = Path.of("../../docs/engines/steps");

    private static final String REDLOCK_TTL = "5"; // its servers must be older

    @TempDir
    private Path folder;

    private void assertAsDocumented(Map<String, String> variables, Algorithm.Family... families) throws Exception {
        boolean redlock = families[0] == Algorithm.Family.REDLOCK;
        String[] command = redlock ? new String[] {"explain", "--ttl", REDLOCK_TTL} : new String[] {"explain"};
        List<String> names = Arrays.stream(Algorithm.values())
                .filter(algorithm -> List.of(families).contains(algorithm.family))
                .map(Algorithm::label)
                .toList();
        try (Launched launched = Launched.start(folder, variables, command)) {
            Run run = launched.end();
            assertThat(run.err()).isEmpty();
            assertThat(run.code()).isZero();
            StringBuilder documented = new StringBuilder();
            for (String name : names) {
                documented.append(Files.readString(STEPS.resolve(name + ".md")));
            }
            assertThat(run.out()).isEqualTo(documented.toString());
        }
    }

    @Test
    void withoutAServer() throws Exception {
        assertAsDocumented(Map.of(), Algorithm.Family.MEMORY, Algorithm.Family.SQL);
    }

    @Test
    void redis() throws Exception {
        try (RedisServer server = Servers.require(() -> RedisServer.builder().start())) {
            assertAsDocumented(Map.of("LOCKSTEP_URL", "redis://" + server.address()), Algorithm.Family.REDIS);
            assertThat(server.command("DBSIZE")).isEqualTo("0");
        }
    }

    @Test
    void redlock() throws Exception {
        try (RedisServer one = Servers.require(() -> RedisServer.builder().start());
                RedisServer two = RedisServer.builder().start();
                RedisServer three = RedisServer.builder().start()) {
            while (Integer.parseInt(three.info("uptime_in_seconds")) <= Integer.parseInt(REDLOCK_TTL)) {
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
            }
            String servers = one.address() + "," + two.address() + "," + three.address();
            assertAsDocumented(Map.of("LOCKSTEP_URL", "redlock://" + servers), Algorithm.Family.REDLOCK);
        }
    }

    @Test
    void zooKeeper() throws Exception {
        // An empty container goes when the server next looks for such; here, never.
        try (ZooKeeperServer server = Servers.require(() -> ZooKeeperServer.builder()
                .systemProperty("znode.container.checkIntervalMs", "3600000")
                .start())) {
            assertAsDocumented(Map.of("LOCKSTEP_URL", "zookeeper://" + server.address()), Algorithm.Family.ZOOKEEPER);
        }
    }

    @Test
    void etcd() throws Exception {
        try (EtcdServer server = Servers.require(() -> EtcdServer.builder().start())) {
            assertAsDocumented(Map.of("LOCKSTEP_URL", "etcd://" + server.address()), Algorithm.Family.ETCD);
        }
    }

    @Test
    void startsItsOwnServer() throws Exception {
        Servers.require(() -> RedisServer.builder().start()).close(); // such a server is available here
        try (Launched launched = Launched.start(folder, Map.of("LOCKSTEP_URL", "memory:"), "explain", "redis-plain")) {
            Run run = launched.end();
            assertThat(run.err()).isEmpty();
            assertThat(run.out()).isEqualTo(Files.readString(STEPS.resolve("redis-plain.md")));
        }
    }

    @Test
    void programsGetJson() throws Exception {
        try (Launched launched = Launched.start(folder, Map.of(), "explain", "--json", "memory", "sql")) {
            List<String> lines = new ArrayList<>(launched.end().out().lines().toList());
            assertThat(lines).hasSize(2);
            assertThat(lines.get(0))
                    .startsWith("{\"engine\":\"memory\",\"about\":\"")
                    .contains("{\"step\":\"A takes the lock (token T1).\","
                            + "\"server\":[\"holder  A  exclusive  token T1\"]}");
        }
    }
}
