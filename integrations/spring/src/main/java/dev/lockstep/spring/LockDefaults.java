package dev.lockstep.spring;

import java.time.Duration;
import java.util.Objects;

/**
 * The settings of every {@link dev.lockstep.annotation.Locked} method and every {@link TransactionalLockTemplate} that
 * does not set its own. Immutable.
 *
 * @param waitAtMost how long to wait for a lock
 * @param transaction what to do if the caller is in a transaction already
 */
public record LockDefaults(Duration waitAtMost, CallerTransaction transaction) {
    /** One second, and {@link CallerTransaction#WARN}. */
    public static final LockDefaults USUAL = new LockDefaults(Duration.ofSeconds(1), CallerTransaction.WARN);

    /**
     * Checks its parts.
     *
     * @param waitAtMost how long to wait for a lock
     * @param transaction what to do if the caller is in a transaction already
     */
    public LockDefaults {
        Objects.requireNonNull(waitAtMost, "waitAtMost");
        Objects.requireNonNull(transaction, "transaction");
    }
}
