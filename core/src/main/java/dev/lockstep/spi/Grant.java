package dev.lockstep.spi;

import dev.lockstep.LockInfo;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * A lock that the engine has given to this client. The backend renews it until {@link #release}, and notifies {@link
 * ClaimRequest#listener()} when it is lost and when another client wants the lock. {@link AbstractGrant} does the
 * bookkeeping.
 */
public interface Grant {
    /**
     * The engine's token; see {@link LockBackend}.
     *
     * @return a positive number below 2<sup>53</sup>
     */
    long token();

    /**
     * The time until which the engine certainly does not grant the lock to another client, by {@link
     * Scheduler#nanoTime()}. Moves forward while the backend renews, and never back. The core treats the grant as lost
     * once it has passed.
     *
     * @return nanoseconds since the scheduler's origin
     */
    long validUntilNanos();

    /**
     * Returns whether this grant blocks another client's claim, as far as the engine has reported it. True from the
     * beginning if it blocked one when the grant was made; always false if {@link Traits#reportsWanted()} is false.
     *
     * @return true once wanted
     */
    boolean isWanted();

    /**
     * Releases the lock. Renewal stops here, whether or not the request succeeds; the backend keeps trying until the
     * engine has confirmed the release, or the ttl has passed. Called at most once; also for a grant that was lost, so
     * that nothing is left in the engine.
     *
     * @param blockAtMost how long the call may block for its one round trip
     * @return true when it is released; false if it had been lost already
     */
    CompletionStage<Boolean> release(Duration blockAtMost);

    /**
     * Leaves the lock to the engine, which keeps it held for a time and then frees it by itself, even though this
     * client closes meanwhile. Renewal stops here, as in {@link #release}; this is called instead of it.
     *
     * @param rest for how long it stays held; positive, and possibly longer than the ttl
     * @param blockAtMost how long the call may block for its one round trip
     * @return true when the engine has confirmed this; false if the grant had been lost already. An engine that cannot
     *     expire a single lock releases it at once
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
     * The slots of a grant of a semaphore: as many as its claim has permits, from 0 to the limit less one. No two
     * grants that the engine keeps at the same time share a slot, and tokens rise strictly from one grant of a slot to
     * the next. An engine may find them only when they are asked for, as long as the grant is held; then they stay the
     * same.
     *
     * @return the slots, ascending; exceptional if this is not a grant of a semaphore, or the engine did not answer
     */
    default CompletionStage<List<Integer>> slots() {
        return CompletableFuture.failedFuture(new UnsupportedOperationException("This grant has no slots."));
    }

    /**
     * Stores beside the grant, for {@link AdminBackend#inspect}, which lock its holder waits for, or removes that. The
     * core calls it only for a holder that has waited for some time, one call after the other for a grant. It has no
     * influence on exclusion, it is not renewed by itself, and it ends with the grant. The backend does not repeat a
     * request that fails.
     *
     * @param wait what the holder waits for; empty once the wait is over
     * @return true when it is stored or removed; false if the grant is gone, or the engine cannot store it
     */
    default CompletionStage<Boolean> recordWait(Optional<LockInfo.Wait> wait) {
        return CompletableFuture.completedFuture(false);
    }

    /**
     * Returns something that this engine adds to a grant, for {@link dev.lockstep.Lease#unwrap}.
     *
     * @param <T> its type
     * @param type what is asked for
     * @return it; empty, unless overridden
     */
    default <T> Optional<T> unwrap(Class<T> type) {
        return Optional.empty();
    }
}
