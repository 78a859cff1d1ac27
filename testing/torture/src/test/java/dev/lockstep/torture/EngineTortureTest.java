package dev.lockstep.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.servers.Servers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every engine for a short while: memory in each build, those with servers in the profile {@code full}. */
@Timeout(2_000)
@Execution(ExecutionMode.CONCURRENT)
class EngineTortureTest {
    private static final Duration DURATION = Duration.ofSeconds(Integer.getInteger("torture.seconds", 5));

    /** The engines with servers that are named, or all. */
    static List<Engine> enginesWithServers() {
        String names = System.getProperty("torture.engines", "");
        List<Engine> chosen = names.isEmpty()
                ? List.of(Engine.values())
                : Arrays.stream(names.split(",")).map(Engine::valueOf).toList();
        return chosen.stream().filter(engine -> engine != Engine.MEMORY).toList();
    }

    @Test
    void memoryKeepsItsPromises() throws Exception {
        torture(Engine.MEMORY);
    }

    @Tag("full")
    @Tag("soak")
    @ParameterizedTest(allowZeroInvocations = true)
    @MethodSource("enginesWithServers")
    void engineKeepsItsPromises(Engine engine) throws Exception {
        torture(engine);
    }

    /**
     * How many sections a run must check per second of faults, so that it proves something. Far below what a healthy run
     * checks on a busy machine, and far above what one checks that stands still for most of the time. Measured in runs of a
     * minute on two cores at a load of 20 to 30: memory 4,200 a second, Redlock 980, SQLite 830, Redis 800, Redis Cluster
     * 480, Sentinel 330, MariaDB 300, ZooKeeper 270, PostgreSQL 195, H2 180, etcd 175, MySQL 115.
     */
    private static long floor(Engine engine) {
        return switch (engine) {
            case MEMORY -> 100;
            case REDIS -> 50;
            default -> 10;
        };
    }

    /** Those who waited for a fair lock while nothing hurt them prove its order. A run goes on until there are ten. */
    private static final long ORDER_FLOOR = 5;

    private static void torture(Engine engine) throws Exception {
        try (Rig rig = Servers.require(engine::start)) {
            Report report = new Run(rig, Settings.of(DURATION)).run();
            if (!report.holds()) {
                report.writeHistory(Files.createDirectories(Path.of("target", "torture"))
                        .resolve(report.engine() + ".history")); // for those who have to find out why
            }
            assertThat(report.holds()).as(report::toString).isTrue();
            // A fault and the pause after it take two seconds on average, and a server that is started again some more.
            assertThat(report.faults().count()).as("faults").isGreaterThan((int) DURATION.toSeconds() / 10);
            assertThat(report.faults().failed())
                    .as("failed faults")
                    .isLessThan(report.faults().count());
            long floor = floor(engine) * DURATION.toSeconds();
            assertThat(report.verdict().checked(Rule.EXCLUSION)).as("exclusion").isGreaterThan(floor);
            assertThat(report.verdict().checked(Rule.TOKENS)).as("tokens").isGreaterThan(floor);
            assertThat(report.terms()).as("terms").isPositive();
            if (report.permits() > 0) {
                assertThat(report.verdict().checked(Rule.PERMITS)).as("permits").isPositive();
            }
            if (report.hasFair()) {
                assertThat(report.verdict().checked(Rule.ORDER)).as("order").isGreaterThanOrEqualTo(ORDER_FLOOR);
            }
            assertThat(report.toHtml()).contains("Torture of " + report.engine());
            assertThat(report.toJson()).containsEntry("holds", true).containsKeys("sections", "faults", "rules");
        }
    }
}
