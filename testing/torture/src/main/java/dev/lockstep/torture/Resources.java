package dev.lockstep.torture;

/**
 * The resources that the workers of a run share, by number: first the locks, then one election, which is a lock with a
 * task, then one semaphore, then the slots of its permits. A slot is checked as an exclusive lock is: no two live
 * permits have it, its tokens rise, and it has registers of its own. Immutable.
 *
 * @param locks how many locks there are
 */
record Resources(int locks) {
    /** How many permits the semaphore has. */
    static final int PERMITS = 3;

    int election() {
        return locks;
    }

    int semaphore() {
        return locks + 1;
    }

    int slot(int slot) {
        return locks + 2 + slot;
    }

    int count() {
        return locks + 2 + PERMITS;
    }
}
