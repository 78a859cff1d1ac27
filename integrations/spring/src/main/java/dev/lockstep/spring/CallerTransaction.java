package dev.lockstep.spring;

/**
 * What happens if a lock is to be acquired by a caller whose transaction has begun already. The lock cannot enclose that
 * transaction any more.
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
