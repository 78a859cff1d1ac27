package dev.lockstep.internal.lock;

import dev.lockstep.internal.turnstile.Call;
import dev.lockstep.internal.turnstile.TurnstileContext;

/** How long a call that takes several locks waits: its time is spent once, over all of them. Immutable. */
final class MultiWait {
    private final TurnstileContext client;
    private final long waitNanos;
    private final long startNanos;

    /** A call begins. */
    MultiWait(TurnstileContext client, long waitNanos) {
        this.client = client;
        this.waitNanos = waitNanos;
        this.startNanos = client.monotonicNanos();
    }

    /**
     * The time left for the next lock: a wait without a limit has none; one that has run out becomes a call that does
     * not wait.
     */
    long leftNanos() {
        return isBounded() ? Math.max(Call.NOT_AT_ALL, waitNanos - spentSince(startNanos)) : Call.NO_LIMIT;
    }

    /**
     * What observers see of that: never a call that does not wait, unless all of it does not. A call whose time has run out
     * before its last lock has timed out.
     */
    long observedNanos() {
        return waitNanos == Call.NOT_AT_ALL ? waitNanos : Math.max(1, leftNanos());
    }

    private boolean isBounded() {
        return waitNanos != Call.NO_LIMIT;
    }

    private long spentSince(long nanos) {
        return client.monotonicNanos() - nanos;
    }

    /**
     * Whether a request that failed is the end of the call: it has no time left, or the engine has been silent for as long as
     * a call without a deadline waits for it.
     *
     * @param sentNanos when the request was made, by the clock of waits
     */
    boolean isOver(long sentNanos) {
        boolean silent = spentSince(sentNanos) >= client.patienceNanos();
        return client.isClosed()
                || isBounded() && leftNanos() == Call.NOT_AT_ALL
                || silent && (!isBounded() || client.timedCallsFailFast());
    }
}
