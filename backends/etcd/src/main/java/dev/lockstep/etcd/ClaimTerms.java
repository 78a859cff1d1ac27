package dev.lockstep.etcd;

import dev.lockstep.LockMode;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.Limits;
import java.util.OptionalInt;

/**
 * The terms of a claim: what it asks for.
 *
 * @param name the name of the lock or semaphore
 * @param mode how it is to be held
 * @param limit how many permits the semaphore has; 0 for a lock
 * @param permits how many of them the claim is for; 1 for a lock
 */
record ClaimTerms(String name, LockMode mode, int limit, int permits) {
    static ClaimTerms of(ClaimRequest request) {
        return new ClaimTerms(request.name(), request.mode(), request.limit().orElse(0), request.permits());
    }

    static ClaimTerms lock(String name, LockMode mode) {
        return new ClaimTerms(name, mode, 0, 1);
    }

    /** The queue in which such a claim stands. */
    ClaimQueue queue(Keys keys) {
        return limit == 0 ? new LockQueue(keys, this) : new SemaphoreQueue(keys, this);
    }

    /** Why the claim is refused: another one uses the name in another way. */
    RuntimeException conflict(Keys.Entry other) {
        return Limits.conflict(name, limit == 0 ? OptionalInt.empty() : OptionalInt.of(limit), other.knownLimit());
    }
}
