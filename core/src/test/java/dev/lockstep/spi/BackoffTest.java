package dev.lockstep.spi;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BackoffTest {
    @ParameterizedTest(name = "after {0} failures a wait is between half of {1} ms and {1} ms")
    @CsvSource({"0, 20", "1, 20", "2, 40", "3, 80", "6, 640", "7, 1000", "8, 1000", "64, 1000", "2147483647, 1000"})
    void doublesFromMinToMaxWithJitter(int failures, long baseMillis) {
        Backoff backoff = new Backoff(Duration.ofMillis(20), Duration.ofSeconds(1));
        for (int i = 0; i < 1000; i++) {
            assertThat(backoff.delay(failures).toNanos()).isBetween(baseMillis * 500_000, baseMillis * 1_000_000);
        }
    }

    @ParameterizedTest(name = "{0} days")
    @CsvSource({"1", "300", "100000"})
    void longWaitsDoNotOverflow(long days) {
        Backoff backoff = new Backoff(Duration.ofDays(days), Duration.ofDays(days));
        for (int failures = 1; failures < 40; failures++) {
            assertThat(backoff.delay(failures)).isBetween(Duration.ofDays(days).dividedBy(2), Duration.ofDays(days));
        }
    }
}
