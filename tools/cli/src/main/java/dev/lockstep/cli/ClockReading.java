package dev.lockstep.cli;

import dev.lockstep.EngineInfo;
import dev.lockstep.LockClient;
import java.time.Duration;
import java.time.Instant;

/**
 * An engine's description of itself, and how far its clock is ahead of this machine's. The clock was read at some
 * moment between question and answer: half the time between them is the error, so the quickest of some answers is
 * taken.
 *
 * @param info what it says
 * @param asked this machine's time in the middle between question and answer
 * @param took the time between them
 */
record ClockReading(EngineInfo info, Instant asked, Duration took) {
    private static final int QUESTIONS = 5;

    static ClockReading of(LockClient client) {
        ClockReading best = ask(client);
        for (int i = 1; i < QUESTIONS && best.info.clock().isPresent(); i++) {
            ClockReading next = ask(client);
            best = next.took.compareTo(best.took) < 0 ? next : best;
        }
        return best;
    }

    private static ClockReading ask(LockClient client) {
        Instant before = Instant.now();
        long start = System.nanoTime();
        EngineInfo info = client.describe();
        Duration took = Duration.ofNanos(System.nanoTime() - start);
        return new ClockReading(info, before.plus(took.dividedBy(2)), took);
    }

    /** How far the engine's clock is ahead; negative if it is behind. */
    double aheadMillis() {
        return info.clock()
                .map(clock -> Duration.between(asked, clock).toNanos() / 1e6)
                .orElse(0.0);
    }

    /** At least a millisecond: some clocks are no more precise. */
    double errorMillis() {
        return Math.max(1, took.toNanos() / 2e6);
    }
}
