package dev.lockstep;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * One hold of a lock, as a handle. As its name says, it can end: by {@link #close()}, or by loss.
 *
 * <p><b>Closing.</b> A lease of a synchronous call belongs to the thread that made the call, is reentrant with that
 * thread's other holds of the lock, and is closed by that thread. A lease of an asynchronous call belongs to the handle
 * and may be closed by any thread. Each handle releases its own hold once; closing it again does nothing.
 *
 * <p><b>The pause.</b> A process can stop at any line: for garbage collection, or because its machine sleeps. Between
 * {@code isValid()} and the write that follows it, the lease can end and another process can start. Only storage can
 * close that gap: pass {@link #token()} with each write, and let the storage refuse a token lower than the highest it
 * has seen. For read-modify-write, present the token before the read, too; otherwise a stale writer can write in
 * between.
 *
 * <p>Any thread may call all methods, except that only its own thread may close a synchronous lease.
 */
public interface Lease extends AutoCloseable {
    /**
     * Names the lock.
     *
     * @return the lock's name; for a multi-lock the names, comma-separated
     */
    String lockName();

    /**
     * The fencing token of this hold. It is higher than the token of every earlier exclusive hold of the lock, on any
     * machine, under the assumptions of the engine. If storage refuses tokens lower than the highest it has seen, a stale holder cannot write to it once a
     * later holder has presented its token. Reentrant holds of one thread have one token; so do readers that hold the
     * lock together through one grant.
     *
     * <p>The token is drawn when it is first asked for, without I/O, and stays the same afterwards.
     *
     * @return the token
     * @throws LockLostException if the hold was lost before its token was first asked for
     * @throws IllegalStateException if the hold was released before its token was first asked for; if it was taken in
     *     fallback, see {@link #isFallback()}; or if this is a multi-lock of several names, which has a token for each:
     *     see {@link #token(String)}
     */
    long token();

    /**
     * The fencing token of one of the locks of a multi-lock.
     *
     * @param lockName the name of the lock
     * @return its token
     * @throws IllegalArgumentException if this lease is not for that lock
     * @throws LockLostException as {@link #token()}
     * @throws IllegalStateException if the hold was released before its token was first asked for, or was taken in
     *     fallback
     */
    long token(String lockName);

    /**
     * Returns whether the hold was taken in fallback, while the client's engine was down. A hold taken in fallback
     * excludes only clients that use the same {@link Fallback} at that time. It has no token: its order among the
     * engine's holds is unknown, so storage could not decide by a number whose writes to refuse.
     *
     * @return true if it was; for a multi-lock, if any of its holds was
     */
    boolean isFallback();

    /**
     * Returns whether the hold is certainly still valid, by a local deadline before which the engine, under its
     * assumptions, cannot grant the lock to anyone else. No I/O. Once false, it stays false.
     *
     * @return true while the hold is neither released nor lost
     */
    boolean isValid();

    /**
     * How long the hold is certain to last if nothing renews it from now on. Renewal moves it forward.
     *
     * @return the time left; zero if the hold is not valid
     */
    Duration remaining();

    /**
     * Does nothing if {@link #isValid()}.
     *
     * @throws LockLostException if the hold was lost
     * @throws IllegalStateException if it was released
     */
    void ensureValid();

    /**
     * Registers an action for the loss of this hold. The action runs once, on the client's executor; at once if the
     * hold is lost already, and never if the hold is released in time. Exceptions that it throws are logged.
     *
     * @param action what to do
     */
    void onLost(Consumer<LossReason> action);

    /**
     * Returns something that the engine adds to a hold, such as a guard for the engine's own transactions; the engine's
     * documentation says what is available. Most engines add nothing.
     *
     * @param <T> its type
     * @param type what is asked for
     * @return it; empty if the engine has none, if the hold was taken in fallback, or if this is a multi-lock of several
     *     names
     */
    default <T> Optional<T> unwrap(Class<T> type) {
        return Optional.empty();
    }

    /**
     * Releases the hold. Returns when the engine has confirmed it, or at once if the engine need not be asked.
     *
     * @throws LockLostException if the hold had been lost; only the first close throws it
     * @throws ReleaseNotConfirmedException if the engine did not confirm within the request timeout. The release
     *     continues in the background, and the hold is over for the caller
     * @throws IllegalMonitorStateException if this is a lease of a synchronous call and another thread calls
     */
    @Override
    void close();

    /**
     * Releases the hold without waiting. The future ends as {@link #close()} does. Cancelling it has no effect on the
     * release.
     *
     * @return a future that is done when the engine has confirmed
     * @throws IllegalMonitorStateException if this is a lease of a synchronous call and another thread calls
     */
    CompletableFuture<Void> closeAsync();
}
