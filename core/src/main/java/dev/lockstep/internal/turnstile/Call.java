package dev.lockstep.internal.turnstile;

import dev.lockstep.LockMode;
import dev.lockstep.LockOptions;
import dev.lockstep.spi.LockBackend;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One call that wants a lock, as the lock object makes it. Immutable.
 *
 * @param mode how the lock is to be held
 * @param options those of the lock object
 * @param waitNanos how long it waits at most, {@link #FOREVER} or {@link #NOT_AT_ALL}
 * @param blockAtMost how long the claim that it causes may block it for its one round trip
 * @param owner the thread that waits, and will own the hold; null if the call is asynchronous
 * @param asker what others see of an asynchronous call; null for the name of the calling thread
 * @param callback hears the result of an asynchronous call, on the client's executor; null if it is synchronous
 */
public record Call(
        LockMode mode,
        LockOptions options,
        long waitNanos,
        Duration blockAtMost,
        @Nullable Thread owner,
        @Nullable String asker,
        @Nullable Consumer<Result> callback) {
    public static final long FOREVER = -1;
    public static final long NOT_AT_ALL = 0;

    /** A call of a thread, which waits for it. It may block for a round trip even if its wait is shorter, for an answer. */
    public static Call of(Thread owner, LockMode mode, LockOptions options, long waitNanos, TurnstileContext client) {
        return new Call(mode, options, waitNanos, client.requestTimeout(), owner, null, null);
    }

    /** A call without a thread. */
    public static Call async(
            Consumer<Result> callback, @Nullable String asker, LockMode mode, LockOptions options, long waitNanos) {
        return new Call(mode, options, waitNanos, LockBackend.DO_NOT_BLOCK, null, asker, callback);
    }

    boolean mayWait() {
        return waitNanos != NOT_AT_ALL;
    }

    /** Whether it has a deadline of its own: one that may not wait has the request timeout. */
    boolean isBounded() {
        return waitNanos != FOREVER;
    }

    /** How long it takes at most. Only if it is bounded. */
    long boundNanos(TurnstileContext client) {
        return mayWait() ? waitNanos : client.requestTimeoutNanos();
    }

    /** Whether only its own deadline ends a wait while the engine is away. */
    boolean isTimed(TurnstileContext client) {
        return waitNanos != FOREVER && !client.timedCallsFailFast();
    }
}
