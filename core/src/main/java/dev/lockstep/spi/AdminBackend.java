package dev.lockstep.spi;

import dev.lockstep.LockInfo;
import dev.lockstep.LockPage;
import java.util.List;
import java.util.concurrent.CompletionStage;

/**
 * Lets operators inspect and release the locks of one namespace of an engine. The clauses of {@link LockBackend} apply
 * here, too. Tokens are the engine's own. Safe for use by many threads.
 */
public interface AdminBackend {
    /**
     * Finds the holders and waiters of a lock.
     *
     * @param name the lock's name
     * @return what the engine knows; without holders and waiters if it knows nothing
     */
    CompletionStage<LockInfo> inspect(String name);

    /**
     * Lists the locks that are held or waited for.
     *
     * @param prefix what their names begin with; may be empty
     * @return the locks, in any order
     */
    CompletionStage<List<LockInfo>> list(String prefix);

    /**
     * Lists the locks that are held or waited for, one page at a time. A lock that is in use all the time is on one
     * page, or on several of them. A page takes a few requests, however many locks are on it; if the engine has no such
     * request, one for each lock, sent together.
     *
     * @param prefix what their names begin with; may be empty
     * @param cursor where the page begins: empty for the first, otherwise {@link LockPage#next()} of the page before
     * @param limit how many locks the page should have at most; an engine may return a few more
     * @return the page
     */
    default CompletionStage<LockPage> list(String prefix, String cursor, int limit) {
        return list(prefix).thenApply(LockPage::last);
    }

    /**
     * Ends every grant of a lock. Waiters stay and are served.
     *
     * @param name the lock's name
     * @return false if there was no grant
     */
    CompletionStage<Boolean> forceRelease(String name);

    /**
     * Ends the grant of a lock that has a token. The engine compares the token and ends the grant in one step, so that
     * a later grant is never ended. Waiters stay and are served.
     *
     * @param name the lock's name
     * @param token the token of the grant
     * @return false if there is no such grant
     */
    CompletionStage<Boolean> forceRelease(String name, long token);
}
