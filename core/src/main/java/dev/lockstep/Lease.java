package dev.lockstep;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * One hold of a lock, as a handle. It says in its name that it can end: by {@link #close()}, or by loss.
 *
 * <p><b>Who may close it.</b> A lease of a synchronous call belongs to the thread that made the call, is reentrant with
 * that thread's other holds of the lock, and is closed by that thread. A lease of an asynchronous call belongs to the
 * handle and may be closed by any thread. Each handle gives back its own hold once; closing it again does nothing.
 *
 * <p><b>The pause.</b> A process can stop at any line: for garbage collection, or because its machine sleeps. Between
 * {@code isValid()} and the write that follows it, the lease can end and another process can start. Only storage can
 * close that gap: give it {@link #token()} with each write, and let it refuse a token lower than the highest it has
 * seen. Work that reads first and writes what comes of it shows its token before the read, too; otherwise a stale
 * writer can come in between.
 *
 * <p>All methods may be called by any thread, save that {@code close} of a synchronous lease is its thread's.
 */
public interface Lease extends AutoCloseable {
    /**
     * Names the lock.
     *
     * @return the lock's name; for a multi-lock the names, comma-separated
     */
    String lockName();

    /**
     * The fencing token of this hold. It is higher than the token of every earlier exclusive hold of the lock, on
     * whatever machine; storage that refuses lower tokens than it has seen cannot be written by a stale holder once a
     * later one has shown its own.
     * Re-entrant holds of one thread have one token; so have readers that hold the lock together through one grant.
     *
     * <p>The token is drawn when it is first asked for, without I/O, and stays the same afterwards.
     *
     * @return the token
     * @throws LockLostException if the hold was lost before its token was first asked for
     * @throws IllegalStateException if the hold was given back before its token was first asked for; if it was taken in
     *     fallback, see {@link #isFallback()}; or if this is a multi-lock of several names, which has a token for each:
     *     see {@link #token(String)}
     */
    long token();

    /**
     * The fencing token of one of the locks of a multi-lock.
     *
     * @param lockName the name of the lock
     * @return its token
     * @throws IllegalArgumentException if this lease is not one of that lock
     * @throws LockLostException as {@link #token()}
     * @throws IllegalStateException if the hold was given back before its token was first asked for, or was taken in
     *     fallback
     */
    long token(String lockName);

    /**
     * Tells whether the hold was taken in fallback, while the client's engine was down. Such a hold excludes only those
     * who use the same {@link Fallback} meanwhile, and it has no token: its order among the engine's holds is unknown,
     * so no number could tell storage whom to refuse.
     *
     * @return true if it was; for a multi-lock, if any of its holds was
     */
    boolean isFallback();

    /**
     * Tells whether the hold is certainly still good, by a local deadline that lies before the moment at which the
     * engine can grant the lock to somebody else. No I/O. Once false, it stays false.
     *
     * @return true while neither given back nor lost
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
     * @throws IllegalStateException if it was given back
     */
    void ensureValid();

    /**
     * Asks to be told of the loss of this hold. The action runs once, on the client's executor; at once if the hold is
     * lost already, and never if it is given back in time. What it throws is logged.
     *
     * @param action what to do
     */
    void onLost(Consumer<LossReason> action);

    /**
     * Gives something that the engine adds to a hold, such as a guard for the engine's own transactions; the engine's
     * documentation says what there is. Most have nothing.
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
     * Gives the hold back. Returns when the engine has confirmed it, or at once if nothing must be asked of the
     * engine.
     *
     * @throws LockLostException if the hold had been lost; told once, by the first close
     * @throws ReleaseNotConfirmedException if the engine did not confirm within the request timeout. The release goes on
     *     in the background, and the hold is over for the caller
     * @throws IllegalMonitorStateException if this is a lease of a synchronous call and another thread calls
     */
    @Override
    void close();

    /**
     * Gives the hold back without waiting. The future ends as {@link #close()} does. Cancelling it has no effect on
     * the release.
     *
     * @return a future that is done when the engine has confirmed
     * @throws IllegalMonitorStateException if this is a lease of a synchronous call and another thread calls
     */
    CompletableFuture<Void> closeAsync();
}
