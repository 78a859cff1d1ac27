package dev.lockstep.internal;

import dev.lockstep.LockMode;
import dev.lockstep.LockOptions;
import dev.lockstep.spi.Scheduler;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * One call that wants a lock, from its arrival until it has a {@link Hold}, an error, or has given up. Fields without a
 * comment of their own are guarded by the turnstile's mutex.
 */
final class Waiter extends Chain.Link<Waiter> {
    /** The result of a call that found the lock held by somebody else, at once or when its time was up. */
    static final Object BUSY = new Object();

    /** The result of a call that was interrupted or cancelled. */
    static final Object GAVE_UP = new Object();

    /**
     * Why a call failed. The exception is made where it is thrown: each call has its own, with the stack of its thread.
     */
    @FunctionalInterface
    interface Failure {
        RuntimeException toException();
    }

    private static final VarHandle RESULT = Handles.of(MethodHandles.lookup(), Waiter.class, "result", Object.class);

    final LockMode mode;
    final LockOptions options;
    final long startNanos;
    final boolean mayWait;

    /** Whether the call has a deadline of its own; if not, an outage ends it. */
    final boolean timed;

    /** How long the claim that this call causes may block it for its one round trip. */
    final Duration blockAtMost;

    /** The thread that waits, and will own the hold; null if the call is asynchronous. */
    final @Nullable Thread thread;

    /** Hears the result of an asynchronous call, on the client's executor; null if the call is synchronous. */
    final @Nullable BiConsumer<@Nullable Hold, @Nullable Throwable> callback;

    final String threadName;

    /** The claim that is this call's alone: of a fair lock, or of a call that may not wait. */
    @Nullable
    Passage passage;

    /** How many others took the lock while this one stood at the head of the queue. */
    int bypassed;

    /** An idle grant was offered to this waiter, and its thread woken to take it. Written under the mutex. */
    volatile boolean offered;

    /**
     * What the call will be told when nothing that it left behind is at the engine any more; null before it gives up. Its own
     * thread may look at it without the mutex.
     */
    @Nullable
    Object answer;

    /** What was on its way out when the call gave up. */
    List<Passage> leaving = List.of();

    /** Ends the wait for that after the request timeout. */
    Scheduler.@Nullable Timer patience;

    /** A {@link Hold}, a {@link Failure}, {@link #BUSY} or {@link #GAVE_UP}; written once, under the mutex. */
    volatile @Nullable Object result;

    Waiter(
            LockMode mode,
            LockOptions options,
            long startNanos,
            boolean mayWait,
            boolean timed,
            Duration blockAtMost,
            @Nullable Thread thread,
            @Nullable BiConsumer<@Nullable Hold, @Nullable Throwable> callback) {
        this.mode = mode;
        this.options = options;
        this.startNanos = startNanos;
        this.mayWait = mayWait;
        this.timed = timed;
        this.blockAtMost = blockAtMost;
        this.callback = callback;
        this.thread = thread;
        this.threadName = Thread.currentThread().getName();
    }

    /** Whether it waits no longer for the lock, but at most until what it left behind is gone. */
    boolean isOver() {
        return result != null || answer != null;
    }

    /** Gives the call its result. Under the mutex, which publishes it. */
    void finish(Object outcome) {
        RESULT.setRelease(this, outcome);
    }
}
