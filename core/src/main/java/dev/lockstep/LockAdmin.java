package dev.lockstep;

import java.util.List;

/**
 * Lets operators inspect and release the locks of one namespace. A {@link LockClient} serves its own namespace.
 *
 * <p>After the client was closed every call throws {@link IllegalStateException}. Safe for use by many threads.
 */
public interface LockAdmin {
    /**
     * Asks the engine for the holders and waiters of a lock.
     *
     * @param name the lock's name
     * @return what the engine knows
     * @throws LockUnavailableException if the engine did not answer within the request timeout
     */
    LockInfo inspect(String name);

    /**
     * Asks the engine which locks are held or waited for. Reads the locks page by page, as {@link #list(String, String,
     * int)} does; each page must be answered within one request timeout, so the whole list may take longer. Locks that
     * are taken or released meanwhile may or may not be in the list.
     *
     * @param prefix what their names begin with; empty for all in the namespace
     * @return the locks, by name
     * @throws LockUnavailableException if the engine did not answer within the request timeout
     */
    List<LockInfo> list(String prefix);

    /**
     * Asks the engine which locks are held or waited for, one page at a time. A lock that is in use all the time is on one page,
     * or on several of them; the order is the engine's. Each page must be answered within one request timeout.
     *
     * <pre>{@code
     * String cursor = "";
     * do {
     *     LockPage page = locks.list("", cursor, 500);
     *     page.locks().forEach(this::show);
     *     cursor = page.next().orElse("");
     * } while (!cursor.isEmpty());
     * }</pre>
     *
     * @param prefix what their names begin with; empty for all in the namespace
     * @param cursor where the page begins: empty for the first, otherwise {@link LockPage#next()} of the page before
     * @param limit how many locks the page should have; an engine may return a few more
     * @return the page
     * @throws IllegalArgumentException if the limit is not positive, or no page of this engine has that cursor
     * @throws LockUnavailableException if the engine did not answer within the request timeout
     */
    LockPage list(String prefix, String cursor, int limit);

    /**
     * Asks the engine which holders of locks wait for other locks. Reads the locks page by page, and each further lock
     * that a holder waits for with its own request; each request must be answered within one request timeout.
     *
     * @return all locks that are waited for, and the cycles among them
     * @throws LockUnavailableException if the engine did not answer within the request timeout
     */
    default WaitGraph waitGraph() {
        return waitGraph("");
    }

    /**
     * Asks the engine which holders of some locks wait for other locks. Reads the locks page by page, and each further
     * lock that a holder waits for with its own request; each request must be answered within one request timeout.
     *
     * @param prefix what the names of the locks begin with; the locks that their holders wait for may have any name
     * @return the locks that are waited for, and the cycles among them
     * @throws LockUnavailableException if the engine did not answer within the request timeout
     */
    WaitGraph waitGraph(String prefix);

    /**
     * Releases a lock by force, whichever client holds it. The holder is notified of the loss as soon as the engine can
     * do so, at the latest at its next renewal, and may still be working: only tokens protect storage from it. Waiters
     * stay, and the next of them is served.
     *
     * @param name the lock's name
     * @return false if nobody held it
     * @throws LockUnavailableException if the engine did not answer within the request timeout
     * @see #forceRelease(String, long)
     */
    boolean forceRelease(String name);

    /**
     * Releases the hold of one holder by force, as {@link #forceRelease(String)} does for all: only the hold that was
     * seen, not that of another holder that has the lock by now. Other readers keep the lock.
     *
     * <p>Threads of one client hand a grant off to each other; the thread that has it when this is called loses it.
     *
     * @param name the lock's name
     * @param token identifies the grant: from {@link LockInfo.Entry#token()} or {@link Lease#token()}
     * @return false if there is no such grant any more: nothing was done
     * @throws IllegalArgumentException if the token is not positive
     * @throws LockUnavailableException if the engine did not answer within the request timeout
     */
    boolean forceRelease(String name, long token);
}
