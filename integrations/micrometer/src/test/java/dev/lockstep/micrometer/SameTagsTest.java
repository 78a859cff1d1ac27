package dev.lockstep.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.LockClient;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** Clients without a name in one process have the same tags. */
class SameTagsTest {
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final Meters meters = new Meters(registry);

    private LockClient client() {
        return LockClient.builder()
                .url("memory:")
                .observer(new LockMetrics(registry))
                .connect();
    }

    @Test
    void oneThatIsClosedLeavesTheGaugesOfTheOther() {
        try (LockClient first = client()) {
            first.lock("order:1").lock();
            try (LockClient second = client()) {
                second.lock("order:2").lock();
                second.lock("invoice:1").lock();
            }
            assertThat(meters.gauge(LockMetrics.REACHABLE)).isOne();
            assertThat(meters.gauge(LockMetrics.FALLBACK)).isZero();
            assertThat(meters.gauge(LockMeters.WAITING)).isZero();
            assertThat(meters.active()).isOne();
        }
        assertThat(meters.gauge(LockMetrics.REACHABLE)).isEqualTo(-1);
        assertThat(meters.active()).isEqualTo(-1);
        assertThat(meters.acquire("acquired")).isEqualTo(3);
    }

    @Test
    void aWarningAsksForAName() {
        ByteArrayOutputStream log = new ByteArrayOutputStream();
        PrintStream before = System.err;
        System.setErr(new PrintStream(log, true, StandardCharsets.UTF_8));
        try {
            client().close();
            client().close(); // one after the other
            assertThat(log.toString(StandardCharsets.UTF_8)).isEmpty();
            try (LockClient first = client()) {
                client().close();
                assertThat(first.isClosed()).isFalse();
            }
        } finally {
            System.setErr(before);
        }
        assertThat(log.toString(StandardCharsets.UTF_8))
                .containsOnlyOnce("WARN dev.lockstep.micrometer.LockMetrics - Another client of this registry")
                .contains("engine=memory", "clientName(…)");
    }
}
