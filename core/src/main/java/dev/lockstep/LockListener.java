package dev.lockstep;

import java.time.Duration;

/**
 * Hears what happens to a client's locks; for metrics and logs. Register one with {@link
 * LockClient.Builder#listener(LockListener)}.
 *
 * <p>Methods are called on the client's executor, one at a time and in order for each listener, after the fact. What a
 * listener throws is logged and harms nobody. While listeners are too slow, 10,000 events wait for them; further ones are
 * dropped, and a warning in the log counts them.
 *
 * <p>Each hold ends with exactly one of {@link #onReleased}, {@link #onLost} and {@link #onUnconfirmed}.
 */
public interface LockListener {
    /**
     * A hold began. Re-entry is not a new hold.
     *
     * @param event what happened
     */
    default void onAcquired(Acquired event) {}

    /**
     * A grant passed from one local hold to the next without asking the engine. {@link #onReleased} came before it and
     * {@link #onAcquired} follows.
     *
     * @param event what happened
     */
    default void onHandedOff(HandedOff event) {}

    /**
     * A hold was released by its holder: the engine has confirmed it, or the grant went to the next local hold or is
     * retained by a sticky lock.
     *
     * @param event what happened
     */
    default void onReleased(Released event) {}

    /**
     * The holder released the lock, and the engine did not confirm it within the request timeout. The release goes on in
     * the background.
     *
     * @param event what happened
     */
    default void onUnconfirmed(Unconfirmed event) {}

    /**
     * A hold was lost. The loss may have been discovered by its release.
     *
     * @param event what happened
     */
    default void onLost(Lost event) {}

    /**
     * Nobody can release a hold any more: its thread has ended, or its {@link Lease} was dropped without being closed.
     *
     * @param event what happened
     */
    default void onAbandoned(Abandoned event) {}

    /**
     * The engine has not answered for the client's request timeout while it was needed.
     *
     * @param event what happened
     */
    default void onUnreachable(Unreachable event) {}

    /**
     * The engine answers again.
     *
     * @param event what happened
     */
    default void onReachable(Reachable event) {}

    /**
     * The client's claims go to its {@link Fallback} from now on, because its engine does not answer.
     *
     * @param event what happened
     */
    default void onFallbackEntered(FallbackEntered event) {}

    /**
     * The engine answers again, and the last hold that was taken in fallback has ended.
     *
     * @param event what happened
     */
    default void onFallbackLeft(FallbackLeft event) {}

    /**
     * A hold began.
     *
     * @param lockName the lock
     * @param mode how it is held
     * @param waited from the call to the hold
     */
    record Acquired(String lockName, LockMode mode, Duration waited) {}

    /**
     * A grant passed to another local hold.
     *
     * @param lockName the lock
     * @param mode how it is held from now on
     */
    record HandedOff(String lockName, LockMode mode) {}

    /**
     * A hold was given back.
     *
     * @param lockName the lock
     * @param mode how it was held
     * @param held how long
     */
    record Released(String lockName, LockMode mode, Duration held) {}

    /**
     * A hold ended without the engine's word that the lock was released.
     *
     * @param lockName the lock
     * @param mode how it was held
     * @param held how long
     */
    record Unconfirmed(String lockName, LockMode mode, Duration held) {}

    /**
     * A hold was lost.
     *
     * @param lockName the lock
     * @param mode how it was held
     * @param reason why it was lost
     */
    record Lost(String lockName, LockMode mode, LossReason reason) {}

    /**
     * A hold that nobody can release any more.
     *
     * @param lockName the lock
     * @param mode how it is held
     * @param thread the name of the thread that ended; empty if a lease of an asynchronous call was dropped
     * @param held how long so far
     * @param released whether Lockstep releases it now; it stays held otherwise
     */
    record Abandoned(String lockName, LockMode mode, String thread, Duration held, boolean released) {}

    /**
     * The engine does not answer.
     *
     * @param silence how long it has not answered
     */
    record Unreachable(Duration silence) {}

    /**
     * The engine answers again.
     *
     * @param outage how long it had not answered
     */
    record Reachable(Duration outage) {}

    /**
     * The fallback began.
     *
     * @param silence how long the engine had not answered
     */
    record FallbackEntered(Duration silence) {}

    /**
     * The fallback is over.
     *
     * @param duration how long it lasted
     */
    record FallbackLeft(Duration duration) {}
}
