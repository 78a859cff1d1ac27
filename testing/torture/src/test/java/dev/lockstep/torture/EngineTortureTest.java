package dev.lockstep.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.servers.Servers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every engine for a short while, some side by side; longer in the profile {@code full}. */
@Timeout(2_000)
@Execution(ExecutionMode.CONCURRENT)
class EngineTortureTest {
    private static final Duration DURATION = Duration.ofSeconds(Integer.getInteger("torture.seconds", 10));

    /** The engines that are named, or all. */
    static List<Engine> engines() {
        String names = System.getProperty("torture.engines", "");
        return names.isEmpty()
                ? List.of(Engine.values())
                : Arrays.stream(names.split(",")).map(Engine::valueOf).toList();
    }

    @ParameterizedTest
    @MethodSource("engines")
    void engineKeepsItsPromises(Engine engine) throws Exception {
        try (Rig rig = Servers.require(engine::start)) {
            Report report = new Run(rig, Settings.of(DURATION)).run();
            if (!report.holds()) {
                report.writeHistory(Files.createDirectories(Path.of("target", "torture"))
                        .resolve(report.engine() + ".history")); // for those who have to find out why
            }
            assertThat(report.holds()).as(report::toString).isTrue();
            assertThat(report.entered()).isPositive();
            assertThat(report.faults().count()).isPositive();
            assertThat(report.verdict().checked(Rule.EXCLUSION)).isPositive();
            assertThat(report.verdict().checked(Rule.TOKENS)).isPositive();
            if (report.hasFair()) {
                assertThat(report.verdict().checked(Rule.ORDER)).isPositive();
            }
            assertThat(report.toHtml()).contains("Torture of " + report.engine());
            assertThat(report.toJson()).containsEntry("holds", true).containsKeys("sections", "faults", "rules");
        }
    }
}
