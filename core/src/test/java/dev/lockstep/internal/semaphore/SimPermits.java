package dev.lockstep.internal.semaphore;

import dev.lockstep.DistributedSemaphore;
import dev.lockstep.Permit;
import java.util.concurrent.CompletableFuture;

/** Access to semaphores that the simulation needs beyond the API: none of its threads may wait. */
public final class SimPermits {
    private SimPermits() {}

    /** As {@link DistributedSemaphore#acquire(int)}, but without a thread that waits. */
    public static CompletableFuture<Permit> acquireAsync(DistributedSemaphore semaphore, int count) {
        return ((ClientSemaphore) semaphore).acquireAsync(count);
    }
}
