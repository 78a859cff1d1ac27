package dev.lockstep.micrometer;

import dev.lockstep.LockObserver.CallOutcome;
import dev.lockstep.LockObserver.HoldOutcome;
import io.micrometer.common.KeyValue;
import io.micrometer.observation.Observation;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The state of an observation of a lock and of the work under it: which locks are still to be acquired, and how many
 * holds are open. Safe for use by many threads.
 */
final class LockedContext extends Observation.Context {
    private final Set<String> wanted = new HashSet<>(); // guarded by this

    /** The work, and each call and hold that belongs to it. The observation stops with the last of them. */
    private final AtomicInteger open = new AtomicInteger(1);

    private int worst = -1; // guarded by this

    LockedContext(Collection<String> lockNames) {
        wanted.addAll(lockNames);
    }

    /** Whether a call for a lock is the one that this observation is about; true once for each lock. */
    synchronized boolean takes(String lockName) {
        return wanted.remove(lockName);
    }

    void begin() {
        open.incrementAndGet();
    }

    void end(Observation observation) {
        if (open.decrementAndGet() == 0) {
            observation.stop();
        }
    }

    /**
     * One of the locks ended in a way. The observation has the worst of them: the other locks of a call that failed were
     * released, and so were those beside a lost one.
     */
    void outcome(CallOutcome outcome) {
        boolean held = outcome == CallOutcome.ACQUIRED || outcome == CallOutcome.REENTERED;
        outcome(LockMeters.word(outcome), held ? 0 : 4);
    }

    void outcome(HoldOutcome outcome) {
        outcome(
                LockMeters.word(outcome),
                switch (outcome) {
                    case RELEASED -> 1;
                    case UNCONFIRMED -> 2;
                    case LOST -> 3;
                });
    }

    private synchronized void outcome(String outcome, int badness) {
        if (badness > worst) {
            worst = badness;
            low("outcome", outcome);
        }
    }

    synchronized void low(String key, String value) {
        addLowCardinalityKeyValue(KeyValue.of(key, value));
    }

    synchronized void high(String key, String value) {
        addHighCardinalityKeyValue(KeyValue.of(key, value));
    }
}
