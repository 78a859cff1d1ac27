package dev.lockstep.internal.turnstile;

import dev.lockstep.LockMode;
import dev.lockstep.LockOptions;
import dev.lockstep.internal.concurrent.ThreadName;
import dev.lockstep.spi.LockBackend;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One call that wants a lock, as the lock object makes it. Immutable.
 *
 * @param mode how the lock is to be held
 * @param options those of the lock object
 * @param waitNanos how long it waits at most, {@link #NO_LIMIT} or {@link #NOT_AT_ALL}
 * @param blockAtMost how long the claim that it causes may block it for its one round trip
 * @param threadName what others see of the thread that calls
 * @param owner the thread that waits, and will own the hold; null if and only if there is a callback
 * @param callback gets the result of an asynchronous call, on the client's executor; null if the call is synchronous
 */
public record Call(
        LockMode mode,
        LockOptions options,
        long waitNanos,
        Duration blockAtMost,
        ThreadName threadName,
        @Nullable Thread owner,
        @Nullable Consumer<Result> callback) {
    /** Longer than any wait. */
    public static final long NO_LIMIT = Long.MAX_VALUE;

    public static final long NOT_AT_ALL = 0;

    /** A call of a thread, which waits for it. It may block for a round trip even if its wait is shorter, for an answer. */
    public static Call of(Thread owner, LockMode mode, LockOptions options, long waitNanos, TurnstileContext client) {
        return new Call(mode, options, waitNanos, client.requestTimeout(), ThreadName.current(), owner, null);
    }

    /** A call without a thread. */
    public static Call async(
            Consumer<Result> callback, ThreadName threadName, LockMode mode, LockOptions options, long waitNanos) {
        return new Call(mode, options, waitNanos, LockBackend.DO_NOT_BLOCK, threadName, null, callback);
    }

    boolean mayWait() {
        return waitNanos != NOT_AT_ALL;
    }

    /** Whether it has a deadline of its own: one that may not wait has the request timeout. */
    boolean isBounded() {
        return waitNanos != NO_LIMIT;
    }

    /** How long it takes at most. Only if it is bounded. */
    long boundNanos(TurnstileContext client) {
        return mayWait() ? waitNanos : client.requestTimeoutNanos();
    }

    /** Whether only its own deadline ends a wait while the engine is away. */
    boolean isTimed(TurnstileContext client) {
        return waitNanos != NO_LIMIT && !client.timedCallsFailFast();
    }
}
