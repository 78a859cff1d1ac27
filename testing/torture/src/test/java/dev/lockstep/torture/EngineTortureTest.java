package dev.lockstep.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.servers.Servers;
import java.time.Duration;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Every engine, for a short while; longer in the profile {@code full}. */
@Timeout(2_000)
class EngineTortureTest {
    private static final Duration DURATION = Duration.ofSeconds(Integer.getInteger("torture.seconds", 8));

    @ParameterizedTest
    @EnumSource(Engine.class)
    void engineKeepsItsPromises(Engine engine) throws Exception {
        try (Rig rig = Servers.require(engine::start)) {
            Report report = new Run(rig, Settings.of(DURATION)).run();
            assertThat(report.holds()).as(report::toString).isTrue();
            assertThat(report.entered()).isPositive();
            assertThat(report.faults().count()).isPositive();
            assertThat(report.toHtml()).contains("Torture of " + report.engine());
            assertThat(report.toJson()).containsEntry("holds", true).containsKeys("sections", "faults", "rules");
        }
    }
}
