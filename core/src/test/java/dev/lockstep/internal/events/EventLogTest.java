package dev.lockstep.internal.events;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.LossReason;
import dev.lockstep.logs.ThreadLogs;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The log says what happened to what and what to do, with the facts as key-value pairs, and does not flood. */
class EventLogTest {
    private final List<String> warnings = new ArrayList<>();
    private final AtomicLong now = new AtomicLong(1);
    private final EventLog log = new EventLog("api-1", "redis-7:6379", now::get);

    @BeforeEach
    void listen() {
        ThreadLogs.onWarning(warnings::add);
    }

    @AfterEach
    void stop() {
        ThreadLogs.onWarning(null);
    }

    @Test
    void eachMessageNamesWhatItIsAbout() {
        log.lost("order:1", LossReason.EXPIRED, 1025, 3_000_000_000L);
        log.unreachable(5_000_000_000L);
        log.fallbackEntered(6_000_000_000L);
        log.abandoned("order:2", "worker-7", 0, Duration.ofSeconds(9), false, null);
        assertThat(warnings)
                .hasSize(4)
                .allSatisfy(line ->
                        assertThat(line).contains("client=api-1", "engine=redis-7:6379", "'api-1'", "redis-7:6379"));
        assertThat(warnings.get(0))
                .contains(
                        "event=lost", "lock=order:1", "token=1025", "durationMs=3000", "reason=EXPIRED", "longer ttl");
        assertThat(warnings.get(1)).contains("event=unreachable", "durationMs=5000", "Check that it is up");
        assertThat(warnings.get(2)).contains("event=fallback_entered", "durationMs=6000", "no token");
        assertThat(warnings.get(3))
                .contains("event=abandoned", "lock=order:2", "durationMs=9000", "thread 'worker-7'")
                .doesNotContain("token=");
    }

    @Test
    void aFloodOfLossesIsCountedAndNotLogged() {
        for (int i = 0; i < 10_000; i++) {
            log.lost("order:" + i, LossReason.EXPIRED, 0, 1);
        }
        log.unreachable(1); // another kind
        assertThat(warnings).hasSize(EventLog.BURST + 1);
        now.addAndGet(EventLog.PERIOD.toNanos());
        log.lost("order:last", LossReason.EXPIRED, 0, 1);
        log.lost("order:more", LossReason.EXPIRED, 0, 1);
        assertThat(warnings).hasSize(EventLog.BURST + 3);
        assertThat(warnings.get(EventLog.BURST + 1)).contains((10_000 - EventLog.BURST) + " such messages before");
        assertThat(warnings.get(EventLog.BURST + 2)).doesNotContain("such messages");
    }

    @Test
    void aClosedClientIsNoNews() {
        log.lost("order:1", LossReason.CLIENT_CLOSED, 7, 1);
        assertThat(warnings).isEmpty();
    }
}
