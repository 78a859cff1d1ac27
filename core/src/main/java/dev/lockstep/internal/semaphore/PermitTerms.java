package dev.lockstep.internal.semaphore;

import dev.lockstep.LockOptions;
import java.time.Duration;
import java.util.Optional;

/**
 * The terms of a call for permits.
 *
 * @param limit how many permits there are
 * @param count how many the call wants
 * @param waitNanos how long it waits for them, or {@link #NO_LIMIT} or {@link #NOT_AT_ALL}
 * @param async whether no thread waits for the result
 */
record PermitTerms(String name, int limit, int count, LockOptions options, long waitNanos, boolean async) {
    static final long NO_LIMIT = Long.MAX_VALUE;
    static final long NOT_AT_ALL = 0;

    boolean mayWait() {
        return waitNanos != NOT_AT_ALL;
    }

    /** How long the call waits; empty if it has no deadline of its own. */
    Optional<Duration> maxWait() {
        return waitNanos == NO_LIMIT ? Optional.empty() : Optional.of(Duration.ofNanos(waitNanos));
    }
}
