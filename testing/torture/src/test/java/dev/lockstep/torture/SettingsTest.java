package dev.lockstep.torture;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which thread takes which locks. */
class SettingsTest {
    @ParameterizedTest
    @CsvSource({"24, 44", "8, 8", "5, 12", "3, 4", "1, 1", "30, 5", "4, 1000", "2, 44"})
    void allLocksAreTaken(int threads, int locks) {
        Settings settings = new Settings(3, threads, locks, Duration.ZERO, 1);
        Set<Integer> taken = new HashSet<>();
        Random random = new Random(1);
        for (int thread = 0; thread < threads; thread++) {
            for (int turn = 0; turn < 20_000; turn++) {
                taken.add(settings.draw(thread, random));
            }
        }
        assertThat(taken)
                .containsExactlyInAnyOrderElementsOf(
                        IntStream.range(0, locks).boxed().toList());
    }

    @ParameterizedTest
    @CsvSource({"24, 44", "8, 8"})
    void noLockIsHeldBothLongAndBriefly(int threads, int locks) {
        Settings settings = new Settings(3, threads, locks, Duration.ZERO, 1);
        Random random = new Random(1);
        for (int thread = 0; thread < threads; thread++) {
            assertThat(settings.draw(thread, random) < 4).isEqualTo(settings.holdsLong(thread));
        }
    }
}
