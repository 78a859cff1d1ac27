package dev.lockstep;

import java.util.List;

/**
 * What operators see of the locks of one namespace, and do to them. A {@link LockClient} serves its own namespace.
 *
 * <p>After the client was closed every call throws {@link IllegalStateException}. Safe for use by many threads.
 */
public interface LockAdmin {
    /**
     * Asks the engine who holds a lock and who waits for it.
     *
     * @param name the lock's name
     * @return what the engine knows
     * @throws LockUnavailableException if the engine did not answer within the request timeout
     */
    LockInfo inspect(String name);

    /**
     * Asks the engine which locks are held or waited for. Thousands of locks take many requests on some engines, and all
     * of them must be answered within one request timeout: raise it for a client that lists so many.
     *
     * @param prefix what their names begin with; empty for all in the namespace
     * @return the locks, by name
     * @throws LockUnavailableException if the engine did not answer within the request timeout
     */
    List<LockInfo> list(String prefix);

    /**
     * Takes a lock away from whoever holds it. Its holder learns of the loss as soon as its engine can tell it, at the
     * latest at its next renewal, and may still be at work: only tokens protect storage from it. Waiters stay, and the
     * next of them is served.
     *
     * @param name the lock's name
     * @return false if nobody held it
     * @throws LockUnavailableException if the engine did not answer within the request timeout
     * @see #forceRelease(String, long)
     */
    boolean forceRelease(String name);

    /**
     * Takes a lock away from one holder, as {@link #forceRelease(String)} does from all: from the one that was seen, and
     * not from another that holds the lock by now. Other readers keep it.
     *
     * <p>Threads of one client pass a grant on to each other; the one that has it when this is called loses it.
     *
     * @param name the lock's name
     * @param token identifies the grant: from {@link LockInfo.Entry#token()} or {@link Lease#token()}
     * @return false if there is no such grant any more: nothing was done
     * @throws IllegalArgumentException if the token is not positive
     * @throws LockUnavailableException if the engine did not answer within the request timeout
     */
    boolean forceRelease(String name, long token);
}
