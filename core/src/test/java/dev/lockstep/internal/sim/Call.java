package dev.lockstep.internal.sim;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockMode;
import dev.lockstep.internal.turnstile.SimThread;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** One call of one actor, from its start over its hold to the end of that. */
final class Call {
    static final long FOREVER = -1;

    final Node node;

    /** The engine's, at which a call begins. */
    final SimBackend home;

    /** Of the engine that granted it; that is another one in fallback. */
    SimBackend backend;

    /** The names asked for; one bit for each. */
    final int names;

    final LockMode mode;
    final long wait;
    final int handOff;
    final boolean reentrant;

    /** How long it may be held; 0 if there is no such time. */
    final long leaseTime;

    final long start;
    final int number;

    /** Null for a synchronous call. */
    @Nullable
    CompletableFuture<?> future;

    /** The thread that waits; null if none does. */
    @Nullable
    SimThread thread;

    /** Answered before the call returned. */
    boolean answeredInside;

    boolean done;
    boolean cancelled;

    /** Until when it may be the reason why another is refused: what is left of it may take a while to go. */
    long livesUntil = Long.MAX_VALUE;

    /** Calls that began to hold while this one was the first of its node to wait. */
    int bypassed;

    // From here on: what it got.

    @Nullable
    Lease lease;

    /** A synchronous hold: the lock, and how often it is held. */
    @Nullable
    DistributedLock held;

    int count;

    /** The order in which holds began; 0 before. */
    int order;

    /** When its user had it. */
    long begun;

    boolean closed;

    /** A writer that released while its own thread read on: readers that hold the lock with it share its token. */
    boolean downgraded;

    boolean givenBack;
    boolean listens;
    int toldLosses;
    final long[] tokens = new long[2];

    Call(
            Node node,
            int names,
            LockMode mode,
            long wait,
            int handOff,
            boolean reentrant,
            long leaseTime,
            long start,
            int number) {
        this.node = node;
        this.home = node.backend();
        this.backend = home;
        this.names = names;
        this.mode = mode;
        this.wait = wait;
        this.handOff = handOff;
        this.reentrant = reentrant;
        this.leaseTime = leaseTime;
        this.start = start;
        this.number = number;
    }

    LockServer server() {
        return backend.server;
    }

    boolean isMulti() {
        return Integer.bitCount(names) > 1;
    }

    int name() {
        return Integer.numberOfTrailingZeros(names);
    }

    boolean isSync() {
        return held != null;
    }

    boolean isWaiting() {
        return !done && wait != 0 && (thread == null || !thread.isOver());
    }

    boolean isHolding() {
        return order > 0 && !closed;
    }

    boolean conflictsWith(Call other) {
        return (names & other.names) != 0
                && (mode == LockMode.EXCLUSIVE || other.mode == LockMode.EXCLUSIVE)
                && !(isSync() && other.isSync() && reentrant && node == other.node)
                && (node == other.node || server() == other.server());
    }

    /** Whether it was taken in fallback. */
    boolean isFallback() {
        return backend != home;
    }

    /** The result for the user. */
    boolean isValid() {
        DistributedLock sync = held;
        Lease handle = lease;
        return sync != null ? sync.isHeldByCurrentThread() : handle != null && handle.isValid();
    }
}
