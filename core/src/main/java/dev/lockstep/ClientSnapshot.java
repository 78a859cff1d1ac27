package dev.lockstep;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The holds and waits of one client at one moment, as the client itself knows them: the engine is not asked. Unlike
 * {@link LockInfo}, it shows each thread, even after a hand-off. It is read lock by lock, so the states of different
 * locks may be from slightly different moments.
 *
 * <p>Immutable. Later versions may add to it.
 */
public final class ClientSnapshot {
    private final List<Use> holds;
    private final List<Use> waiters;

    private ClientSnapshot(List<Use> holds, List<Use> waiters) {
        this.holds = List.copyOf(holds);
        this.waiters = List.copyOf(waiters);
    }

    /**
     * Makes one.
     *
     * @param holds see {@link #holds()}
     * @param waiters see {@link #waiters()}
     * @return an immutable copy
     */
    public static ClientSnapshot of(List<Use> holds, List<Use> waiters) {
        return new ClientSnapshot(holds, waiters);
    }

    /**
     * Shows the holds of this client.
     *
     * @return one for each thread and each asynchronous lease that holds a lock, by name of the lock
     */
    public List<Use> holds() {
        return holds;
    }

    /**
     * Shows the calls of this client that wait for a lock. A call whose first request the engine has not answered yet may
     * be missing.
     *
     * @return the calls, by name of the lock and in the order in which they came
     */
    public List<Use> waiters() {
        return waiters;
    }

    @Override
    public String toString() {
        return "ClientSnapshot[holds=" + holds + ", waiters=" + waiters + "]";
    }

    /** A hold, or a call that waits. Immutable; do not implement it, since later versions may add to it. */
    public interface Use {
        /**
         * Names the lock.
         *
         * @return the lock's name
         */
        String lockName();

        /**
         * Returns how it is held or wanted.
         *
         * @return the mode
         */
        LockMode mode();

        /**
         * Identifies the thread that holds or waits.
         *
         * @return {@link Thread#getId()}; empty for an asynchronous lease or call, which belongs to no thread
         */
        OptionalLong threadId();

        /**
         * Names the thread that holds or waits.
         *
         * @return its name, which may be empty for a virtual thread; empty for an asynchronous lease or call
         */
        Optional<String> threadName();

        /**
         * Returns how long it has lasted.
         *
         * @return the time for which the lock has been held or waited for
         */
        Duration duration();

        /**
         * Returns how often the grant was handed off since the engine gave it to this client.
         *
         * @return the number; 0 for a waiter
         */
        int handOffs();

        /**
         * The token of a hold.
         *
         * @return the token; empty if nobody has asked for it yet, and for a waiter
         */
        OptionalLong token();
    }
}
