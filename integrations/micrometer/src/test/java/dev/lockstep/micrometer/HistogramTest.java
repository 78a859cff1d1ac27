package dev.lockstep.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.distribution.DistributionStatisticConfig;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Histograms and service level objectives are configured as for any timer of Micrometer. */
class HistogramTest {
    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);

    @Test
    void bucketsOfAFilterAreInTheScrape() throws InterruptedException {
        registry.config().meterFilter(new MeterFilter() {
            @Override
            public DistributionStatisticConfig configure(Meter.Id id, DistributionStatisticConfig config) {
                return switch (id.getName()) {
                    case LockMeters.ACQUIRE ->
                        DistributionStatisticConfig.builder()
                                .serviceLevelObjectives(Duration.ofSeconds(2).toNanos())
                                .build()
                                .merge(config);
                    case LockMeters.HOLD ->
                        DistributionStatisticConfig.builder()
                                .percentilesHistogram(true)
                                .build()
                                .merge(config);
                    default -> config;
                };
            }
        });
        try (LockClient client = LockClient.builder()
                        .url("memory:")
                        .clientName("me")
                        .observer(new LockMetrics(registry))
                        .connect();
                Lease lease = client.lock("order:1").acquire()) {
            assertThat(lease.isValid()).isTrue();
        }
        assertThat(registry.scrape().lines())
                .anyMatch(line -> isBucket(line, "lockstep_lock_acquire_seconds_bucket", "le=\"2.0\"", "acquired"))
                .anyMatch(line -> isBucket(line, "lockstep_lock_hold_seconds_bucket", "le=\"+Inf\"", "released"))
                .filteredOn(line -> line.startsWith("lockstep_lock_hold_seconds_bucket"))
                .hasSizeGreaterThan(50);
    }

    private static boolean isBucket(String line, String name, String limit, String outcome) {
        return line.startsWith(name + "{")
                && line.contains(limit)
                && line.contains("outcome=\"" + outcome + "\"")
                && line.endsWith(" 1");
    }
}
