package dev.lockstep.spi;

import dev.lockstep.LockInfo;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * A lock that the engine has given to this client. The backend renews it until {@link #release}, and tells {@link
 * ClaimRequest#listener()} of its loss and of others' wish for it. {@link AbstractGrant} does the bookkeeping.
 */
public interface Grant {
    /**
     * The engine's token; see {@link LockBackend}.
     *
     * @return a positive number below 2<sup>53</sup>
     */
    long token();

    /**
     * Until when the engine certainly grants the lock to nobody else, by {@link Scheduler#nanoTime()}. Moves forward
     * while the backend renews, and never back. The core treats the grant as lost once it has passed.
     *
     * @return nanoseconds since the scheduler's origin
     */
    long validUntilNanos();

    /**
     * Tells whether another client's claim is blocked by this grant, as far as the engine has told. True from the
     * beginning if one was blocked when the grant was made; always false where {@link Traits#tellsWanted()} is.
     *
     * @return true once wanted
     */
    boolean isWanted();

    /**
     * Gives the lock back. Renewal stops here, whatever becomes of the request; the backend goes on trying until the
     * engine has confirmed, or the ttl has passed. Called at most once, also for a grant that was lost, so that nothing
     * is left.
     *
     * @param blockAtMost how long the call may block for its one round trip
     * @return true when given back; false if it had been lost already
     */
    CompletionStage<Boolean> release(Duration blockAtMost);

    /**
     * Leaves the lock to the engine, which keeps it held for a time and then frees it by itself, even though this client
     * closes meanwhile. Renewal stops here, as in {@link #release}, in whose place this is called.
     *
     * @param rest for how long it stays held; positive, and possibly longer than the ttl
     * @param blockAtMost how long the call may block for its one round trip
     * @return true when the engine knows; false if the grant had been lost already. An engine that cannot expire a single
     *     lock releases it at once
     */
    default CompletionStage<Boolean> releaseAfter(Duration rest, Duration blockAtMost) {
        return release(blockAtMost);
    }

    /**
     * Turns an exclusive grant into a shared one in place, before any exclusive claim that waits. Its token stays.
     *
     * @return true if it is shared now; false if it stays exclusive, which is always allowed; exceptional if that is
     *     unknown, and the core then treats it as shared
     */
    default CompletionStage<Boolean> downgrade() {
        return CompletableFuture.completedFuture(false);
    }

    /**
     * The slots of a grant of a semaphore: as many as its claim has permits, from 0 to the limit less one. No two grants that
     * the engine keeps at the same time have one in common, and tokens rise strictly from one grant of a slot to the next.
     * An engine may find them only when they are asked for, as long as the grant is held; then they stay the same.
     *
     * @return the slots, ascending; exceptional if this is no grant of a semaphore, or the engine did not answer
     */
    default CompletionStage<List<Integer>> slots() {
        return CompletableFuture.failedFuture(new UnsupportedOperationException("This grant has no slots."));
    }

    /**
     * Stores beside the grant, for {@link AdminBackend#inspect}, which lock its holder waits for, or removes that. The core
     * calls it only for a holder that has waited for some time, one call after the other for a grant. Nothing decides about
     * exclusion by it, it is not renewed by itself, and it ends with the grant. A request that fails is not repeated.
     *
     * @param wait what the holder waits for; empty once the wait is over
     * @return true when it is stored or removed; false if the grant is gone, or the engine cannot store it
     */
    default CompletionStage<Boolean> recordWait(Optional<LockInfo.Wait> wait) {
        return CompletableFuture.completedFuture(false);
    }

    /**
     * Gives something that this engine adds to a grant, for {@link dev.lockstep.Lease#unwrap}.
     *
     * @param <T> its type
     * @param type what is asked for
     * @return it; empty, unless overridden
     */
    default <T> Optional<T> unwrap(Class<T> type) {
        return Optional.empty();
    }
}
