package dev.lockstep;

import java.util.List;
import java.util.OptionalLong;

/**
 * What an engine knows of one lock at one moment, for operators. It may be out of date by the time it is read.
 *
 * <p>Threads of one process share one entry, unless the lock is fair.
 *
 * @param name the lock's name
 * @param holders who holds it: none, one exclusive holder, or shared ones
 * @param waiters who waits at the engine, in the order in which they will be served where the engine keeps one
 */
public record LockInfo(String name, List<Entry> holders, List<Entry> waiters) {
    /**
     * Makes an immutable copy.
     *
     * @param name the lock's name
     * @param holders who holds it
     * @param waiters who waits
     */
    public LockInfo {
        holders = List.copyOf(holders);
        waiters = List.copyOf(waiters);
    }

    /**
     * Tells whether nobody holds the lock.
     *
     * @return true if there is no holder
     */
    public boolean isFree() {
        return holders.isEmpty();
    }

    /**
     * One holder or waiter.
     *
     * @param mode what it holds or asks for
     * @param token for a holder, a token not above any that {@link Lease#token()} gives under this grant, and above all
     *     of earlier exclusive grants; empty for a waiter
     * @param holder who it is
     */
    public record Entry(LockMode mode, OptionalLong token, HolderInfo holder) {}
}
