package dev.lockstep.internal.events;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.LossReason;
import dev.lockstep.logs.ThreadLogs;
import dev.lockstep.spi.VirtualScheduler;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The log says what happened to what and what to do, with the facts as key-value pairs, and does not flood. */
class EventLogTest {
    private final List<String> warnings = new ArrayList<>();
    private final VirtualScheduler time = new VirtualScheduler();
    private final EventLog log = new EventLog("api-1", "redis-7:6379", time);

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
        log.unconfirmed("order:3", 1026, Duration.ofSeconds(4), new IOException("reset"));
        log.lastsLong(
                "Lock 'order:4': a lease has held it",
                "order:4",
                1027,
                Duration.ofSeconds(7),
                Duration.ofSeconds(5),
                null);
        assertThat(warnings)
                .hasSize(6)
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
        assertThat(warnings.get(4))
                .contains(
                        "event=unconfirmed",
                        "lock=order:3",
                        "token=1026",
                        "durationMs=4000",
                        "failure=java.io.IOException: reset");
        assertThat(warnings.get(5))
                .contains("event=long_hold", "lock=order:4", "token=1027", "durationMs=7000", "5000 ms");
    }

    @Test
    void theEndOfAnOutageAndOfAFallbackIsForInformation() {
        List<String> infos = new ArrayList<>();
        ThreadLogs.onInfo(infos::add);
        try {
            log.reachable(7_000_000_000L);
            log.fallbackLeft(8_000_000_000L);
        } finally {
            ThreadLogs.onInfo(null);
        }
        assertThat(warnings).isEmpty();
        assertThat(infos)
                .hasSize(2)
                .allSatisfy(line ->
                        assertThat(line).contains("client=api-1", "engine=redis-7:6379", "'api-1'", "redis-7:6379"));
        assertThat(infos.get(0))
                .contains("event=reachable", "durationMs=7000", "answers again, after 7000 ms", "If this repeats");
        assertThat(infos.get(1))
                .contains("event=fallback_left", "durationMs=8000", "the fallback has ended", "check that work");
    }

    @Test
    void permitsAreNamedAsSuch() {
        log.permitLost("slow", LossReason.REVOKED, 7, 1_000_000);
        log.permitAbandoned("slow", 8, Duration.ofSeconds(9), null);
        assertThat(warnings.get(0)).contains("event=lost", "A permit of semaphore 'slow'", "token=7", "redis-7:6379");
        assertThat(warnings.get(1)).contains("event=abandoned", "Semaphore 'slow'", "token=8", "redis-7:6379");
    }

    private void lose(int count) {
        for (int i = 0; i < count; i++) {
            log.lost("order:" + i, LossReason.EXPIRED, 0, 1);
        }
    }

    @Test
    void aFloodOfLossesIsCountedAndNotLogged() {
        lose(10_000);
        log.unreachable(1); // another kind
        assertThat(warnings).hasSize(EventLog.BURST + 1);
        time.pause(EventLog.PERIOD.minusNanos(1));
        assertThat(warnings).hasSize(EventLog.BURST + 1);
        time.advance(Duration.ofNanos(1));
        assertThat(warnings).hasSize(EventLog.BURST + 2);
        assertThat(warnings.get(EventLog.BURST + 1))
                .contains((10_000 - EventLog.BURST) + " more messages", "event=left_out", "kind=lost", "client=api-1");
        lose(1);
        assertThat(warnings).hasSize(EventLog.BURST + 3);
        assertThat(warnings.get(EventLog.BURST + 2)).doesNotContain("such messages");
        assertThat(time.pending()).isZero();
    }

    @Test
    void theEndOfTheClientReportsWhatWasLeftOut() {
        lose(EventLog.BURST + 7);
        log.close();
        assertThat(warnings).hasSize(EventLog.BURST + 1);
        assertThat(warnings.get(EventLog.BURST)).contains("7 more messages");
        assertThat(time.pending()).isZero();
    }

    @Test
    void aClosedClientIsNotLogged() {
        log.lost("order:1", LossReason.CLIENT_CLOSED, 7, 1);
        assertThat(warnings).isEmpty();
    }
}
