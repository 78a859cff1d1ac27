package dev.lockstep.torture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.lockstep.servers.Servers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every engine for a short while: memory in each build, those with servers in the profile {@code full}. All of them for long
 * in the profile {@code soak}.
 */
@Execution(ExecutionMode.CONCURRENT)
class EngineTortureTest {
    private static final Duration DURATION = Duration.ofSeconds(Integer.getInteger("torture.seconds", 5));

    /**
     * Ends a run that hangs: no rule is checked by it. Around the faults, a run starts and stops servers and workers
     * ({@code ProcessHand.START} is five minutes), waits for progress and silence, and checks its history. In the default tier
     * it is less than Surefire's limit of 900 s, which does not say where a test hangs.
     */
    private static final Duration LIMIT = DURATION.plus(Duration.ofMinutes(12));

    /** The engines with servers that are named, or all. */
    static List<Engine> enginesWithServers() {
        String names = System.getProperty("torture.engines", "");
        List<Engine> chosen = names.isEmpty()
                ? List.of(Engine.values())
                : Arrays.stream(names.split(",")).map(Engine::valueOf).toList();
        return chosen.stream().filter(engine -> engine != Engine.MEMORY).toList();
    }

    @Test
    void memoryKeepsItsPromises() {
        torture(Engine.MEMORY);
    }

    /** The same test; a tag more would take it out of the default tier. */
    @Tag("soak")
    @Test
    void memoryKeepsItsPromisesForLong() {
        torture(Engine.MEMORY);
    }

    @Tag("full")
    @Tag("soak")
    @ParameterizedTest(allowZeroInvocations = true)
    @MethodSource("enginesWithServers")
    void engineKeepsItsPromises(Engine engine) {
        torture(engine);
    }

    /**
     * How many sections a healthy run checks per second of faults. Measured in runs of a minute on two cores at a load of 20
     * to 30.
     */
    private static int healthy(Engine engine) {
        return switch (engine) {
            case MEMORY -> 4_200;
            case REDIS -> 800;
            case REDIS_SENTINEL -> 330;
            case REDIS_CLUSTER -> 480;
            case REDLOCK -> 980;
            case ZOOKEEPER -> 270;
            case ETCD -> 175;
            case POSTGRESQL -> 195;
            case MARIADB -> 300;
            case MYSQL -> 115;
            case H2 -> 180;
            case SQLITE -> 830;
        };
    }

    /**
     * The part of that which a run must check, so that it proves something. A run that is paused for most of the time
     * checks less; a run on a machine that is four times as slow still checks enough.
     */
    private static final int FLOOR_DIVISOR = 4;

    private static long floor(Engine engine) {
        return healthy(engine) * DURATION.toSeconds() / FLOOR_DIVISOR;
    }

    /** Calls that waited for a fair lock without a fault prove its order. A run continues until there are ten. */
    private static final long ORDER_FLOOR = 5;

    /** The memory engine has about one victim a second on a busy machine: none in this time means that none is found. */
    private static final Duration LONG_ENOUGH_FOR_DEADLOCKS = Duration.ofMinutes(1);

    private static void torture(Engine engine) {
        assertTimeoutPreemptively(LIMIT, () -> tortureWithoutLimit(engine));
    }

    private static void tortureWithoutLimit(Engine engine) throws Exception {
        try (Rig rig = Servers.require(engine::start)) {
            Report report = new Run(rig, Settings.of(DURATION)).run();
            if (!report.holds()) {
                report.writeHistory(Files.createDirectories(Path.of("target", "torture"))
                        .resolve(report.engine() + ".history")); // for finding the reason
            }
            assertThat(report.holds()).as(report::toString).isTrue();
            // A fault and the pause after it take two seconds on average, and a server that is started again some more.
            assertThat(report.faults().count()).as("faults").isGreaterThan((int) DURATION.toSeconds() / 10);
            assertThat(report.faults().failed())
                    .as("failed faults")
                    .isLessThan(report.faults().count());
            long floor = floor(engine);
            assertThat(report.verdict().checked(Rule.EXCLUSION)).as("exclusion").isGreaterThan(floor);
            assertThat(report.verdict().checked(Rule.TOKENS)).as("tokens").isGreaterThan(floor);
            assertThat(report.terms()).as("terms").isPositive();
            if (engine != Engine.REDLOCK) { // which has no semaphores
                assertThat(report.permits()).as("permits").isPositive();
                assertThat(report.verdict().checked(Rule.PERMITS))
                        .as("checks of permits")
                        .isPositive();
            }
            System.out.printf(
                    "torture of %s: %d victims of deadlocks%n",
                    engine, report.verdict().checked(Rule.VICTIM));
            if (engine == Engine.MEMORY && DURATION.compareTo(LONG_ENOUGH_FOR_DEADLOCKS) >= 0) {
                assertThat(report.verdict().checked(Rule.VICTIM)).as("victims").isPositive();
            }
            if (report.hasFair()) {
                assertThat(report.verdict().checked(Rule.ORDER)).as("order").isGreaterThanOrEqualTo(ORDER_FLOOR);
            }
            assertThat(report.toHtml()).contains("Torture of " + report.engine());
            assertThat(report.toJson()).containsEntry("holds", true).containsKeys("sections", "faults", "rules");
        }
    }
}
