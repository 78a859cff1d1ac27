package dev.lockstep;

import java.time.Duration;

/**
 * Is notified of what happens to a client's locks; for metrics and logs. Register one with {@link
 * LockClient.Builder#listener(LockListener)}.
 *
 * <p>Methods are called on the client's executor, one at a time and in order for each listener, after the event.
 * Exceptions that a listener throws are logged and have no other effect. If listeners are too slow, up to 10,000 events
 * wait for them; beyond that, {@link #onAcquired}, {@link #onReleased} and {@link #onHandedOff} are dropped. From
 * 100,000 waiting events on, {@link #onLost}, {@link #onUnconfirmed} and {@link #onAbandoned} are dropped, too; the
 * others never are. A warning in the log counts what was dropped.
 *
 * <p>Each hold ends with exactly one of {@link #onReleased}, {@link #onLost} and {@link #onUnconfirmed}.
 *
 * <p>Later versions may add methods with an empty default, and accessors to the events; do not implement those. Use a
 * {@link LockObserver} for events that must not be missed, or must be seen in the caller's thread.
 *
 * <p><b>Cost.</b> The order of events is kept across threads, so a client with a listener decides about every grant
 * under the lock's mutex. Without a listener, an uncontended acquire and release skip part of that work. An observer
 * does not need this order, and is much cheaper.
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
     * The holder released the lock, and the engine did not confirm it within the request timeout. The release continues
     * in the background.
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
     * A hold can no longer be released: its thread has ended, or its {@link Lease} was dropped without being closed.
     *
     * @param event what happened
     */
    default void onAbandoned(Abandoned event) {}

    /**
     * A deadlock was found that includes a thread of this client. Called once for each deadlock, by every client in it.
     *
     * @param event what happened
     */
    default void onDeadlock(Deadlock event) {}

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

    /** A hold began. Immutable. */
    interface Acquired {
        /**
         * Names the lock.
         *
         * @return the lock's name
         */
        String lockName();

        /**
         * Returns how it is held.
         *
         * @return the mode
         */
        LockMode mode();

        /**
         * Returns how long the call waited.
         *
         * @return the time from the call to the hold
         */
        Duration waited();
    }

    /** A grant passed to another local hold. Immutable. */
    interface HandedOff {
        /**
         * Names the lock.
         *
         * @return the lock's name
         */
        String lockName();

        /**
         * Returns how it is held from now on.
         *
         * @return the mode
         */
        LockMode mode();

        /**
         * The options of the call that has the lock from now on.
         *
         * @return the options
         */
        LockOptions options();
    }

    /** A hold was released. Immutable. */
    interface Released {
        /**
         * Names the lock.
         *
         * @return the lock's name
         */
        String lockName();

        /**
         * Returns how it was held.
         *
         * @return the mode
         */
        LockMode mode();

        /**
         * Returns how long it was held.
         *
         * @return the time
         */
        Duration held();
    }

    /** A hold was released, and the engine did not confirm it in time. Immutable. */
    interface Unconfirmed {
        /**
         * Names the lock.
         *
         * @return the lock's name
         */
        String lockName();

        /**
         * Returns how it was held.
         *
         * @return the mode
         */
        LockMode mode();

        /**
         * Returns how long it was held.
         *
         * @return the time
         */
        Duration held();
    }

    /** A hold was lost. Immutable. */
    interface Lost {
        /**
         * Names the lock.
         *
         * @return the lock's name
         */
        String lockName();

        /**
         * Returns how it was held.
         *
         * @return the mode
         */
        LockMode mode();

        /**
         * Returns why it was lost.
         *
         * @return the reason
         */
        LossReason reason();
    }

    /** A hold that can no longer be released. Immutable. */
    interface Abandoned {
        /**
         * Names the lock.
         *
         * @return the lock's name
         */
        String lockName();

        /**
         * Returns how it is held.
         *
         * @return the mode
         */
        LockMode mode();

        /**
         * Names the thread that ended.
         *
         * @return its name; empty if a lease of an asynchronous call was dropped
         */
        String thread();

        /**
         * Returns how long it has been held so far.
         *
         * @return the time
         */
        Duration held();

        /**
         * Returns whether Lockstep releases it now.
         *
         * @return false if it stays held
         */
        boolean released();
    }

    /** Threads wait for each other. Immutable. */
    interface Deadlock {
        /**
         * Shows who holds and waits for what: lock, client, host, thread, and since when.
         *
         * @return the cycle, as the engine showed it twice
         */
        WaitGraph.Cycle cycle();

        /**
         * Says whether a call of this client fails because of it.
         *
         * @return true if a call fails with {@link DeadlockException}; see {@link DeadlockPolicy}
         */
        boolean failsCall();
    }

    /** The engine does not answer. Immutable. */
    interface Unreachable {
        /**
         * Returns how long it has not answered.
         *
         * @return the time
         */
        Duration silence();
    }

    /** The engine answers again. Immutable. */
    interface Reachable {
        /**
         * Returns how long it had not answered.
         *
         * @return the time
         */
        Duration outage();
    }

    /** The fallback began. Immutable. */
    interface FallbackEntered {
        /**
         * Returns how long the engine had not answered.
         *
         * @return the time
         */
        Duration silence();
    }

    /** The fallback is over. Immutable. */
    interface FallbackLeft {
        /**
         * Returns how long it lasted.
         *
         * @return the time
         */
        Duration duration();
    }
}
