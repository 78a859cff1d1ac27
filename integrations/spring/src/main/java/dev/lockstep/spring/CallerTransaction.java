package dev.lockstep.spring;

/**
 * The behaviour if a caller whose transaction has begun already acquires a lock. The lock can no longer enclose that
 * transaction.
 */
public enum CallerTransaction {
    /**
     * The lock is acquired, and released after the transaction has ended, so that the next holder sees what it has committed. A
     * warning is logged once for each place: under snapshot isolation, such as {@code REPEATABLE READ}, the transaction may not
     * see what the previous holder has committed.
     */
    WARN,

    /** The call throws {@link dev.lockstep.LockConfigurationException}, and the work does not run. */
    REFUSE
}
