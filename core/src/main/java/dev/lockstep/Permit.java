package dev.lockstep;

import java.util.List;

/**
 * One or more permits of a {@link DistributedSemaphore}, as a handle. It belongs to the handle, not to a thread: any thread
 * may close it, and only this handle releases it, once.
 *
 * <p>A permit is a {@link Lease}: it is renewed while its client lives, it can be lost, and its holder is notified of
 * the loss. It has a {@link #token()}, but several permits are valid at a time, so storage cannot compare it with one
 * number. Each permit has a {@link #slot()} for that: a number that no other live permit has. Tokens rise strictly from
 * one permit of a slot to the next, so storage keeps one number for each slot.
 *
 * <p>Safe for use by many threads.
 */
public interface Permit extends Lease {
    /**
     * The number of this permit's place, from 0 to the number of permits less one. No two permits that are valid at the same
     * time have the same. It also serves as the number of a worker or a shard.
     *
     * <p>The first call may have to ask the engine; later calls return the same.
     *
     * @return the slot; the lowest of {@link #slots()} if this handle has several permits
     * @throws LockLostException if the permit was lost before its slot was first asked for
     * @throws IllegalStateException if the permit was released before its slot was first asked for
     * @throws LockUnavailableException if the engine had to be asked and did not answer within the request timeout
     */
    default int slot() {
        return slots().get(0);
    }

    /**
     * The numbers of all places that this handle has; see {@link #slot()}.
     *
     * @return as many slots as were acquired, ascending
     * @throws LockLostException as {@link #slot()}
     * @throws IllegalStateException as {@link #slot()}
     * @throws LockUnavailableException as {@link #slot()}
     */
    List<Integer> slots();
}
