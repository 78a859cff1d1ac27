package dev.lockstep.spi;

import dev.lockstep.LockInfo;
import java.util.List;
import java.util.concurrent.CompletionStage;

/**
 * What operators ask of the locks of one namespace of an engine, and do to them. The clauses of {@link LockBackend} hold
 * here, too. Tokens are the engine's own. Safe for use by many threads.
 */
public interface AdminBackend {
    /**
     * Tells who holds and who waits for a lock.
     *
     * @param name the lock's name
     * @return what the engine knows; without holders and waiters if it knows nothing
     */
    CompletionStage<LockInfo> inspect(String name);

    /**
     * Tells which locks are held or waited for.
     *
     * @param prefix what their names begin with; may be empty
     * @return the locks, in any order
     */
    CompletionStage<List<LockInfo>> list(String prefix);

    /**
     * Ends every grant of a lock. Waiters stay and are served.
     *
     * @param name the lock's name
     * @return false if there was no grant
     */
    CompletionStage<Boolean> forceRelease(String name);

    /**
     * Ends the grant of a lock that has a token. The engine compares and ends in one step, so that a grant that came
     * after is never hit. Waiters stay and are served.
     *
     * @param name the lock's name
     * @param token the token of the grant
     * @return false if there is no such grant
     */
    CompletionStage<Boolean> forceRelease(String name, long token);
}
