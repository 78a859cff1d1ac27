package dev.lockstep.internal.waits;

import dev.lockstep.DeadlockPolicy;
import dev.lockstep.internal.turnstile.TurnstileContext;
import java.time.Duration;

/** Watches the threads of a client that hold locks and wait for others. */
public final class Waits implements AutoCloseable {
    private final DeadlockWatch deadlocks;
    private final WaitWatch watch;

    /**
     * Makes one.
     *
     * @param recordAfter how long a thread waits before that is recorded
     */
    public Waits(TurnstileContext client, Duration recordAfter, DeadlockPolicy policy) {
        this.deadlocks = new DeadlockWatch(client, policy, recordAfter.toNanos());
        this.watch = new WaitWatch(client, recordAfter.toNanos(), deadlocks);
        if (policy != DeadlockPolicy.OFF) {
            client.waitsWatchedBy(watch);
        }
    }

    @Override
    public void close() {
        watch.close();
        deadlocks.close();
    }
}
