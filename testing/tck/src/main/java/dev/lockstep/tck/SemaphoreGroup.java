package dev.lockstep.tck;

import dev.lockstep.DistributedSemaphore;

/** The base of the parts about semaphores, on the name that two clients compete for. */
abstract class SemaphoreGroup extends ContractGroup {
    SemaphoreGroup(LockContract contract) {
        super(contract);
    }

    final DistributedSemaphore semaphore(int permits) {
        return client().semaphore(NAME, permits);
    }

    final DistributedSemaphore rivals(int permits) {
        return rival().semaphore(NAME, permits);
    }
}
