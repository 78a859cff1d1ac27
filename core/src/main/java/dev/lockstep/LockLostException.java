package dev.lockstep;

/**
 * The caller's hold had ended before the caller released it: another process may have held the lock since. Work done
 * under it is protected only as far as storage checked {@link Lease#token()}.
 *
 * <p>It is an {@link IllegalMonitorStateException}, so that code written for {@link java.util.concurrent.locks.Lock}
 * gets the type it expects.
 */
public class LockLostException extends IllegalMonitorStateException implements LockFailure {
    private static final long serialVersionUID = 1L;

    /** The lock that was lost. */
    private final String lockName;

    /** Why it was lost. */
    private final LossReason reason;

    /**
     * Makes an exception.
     *
     * @param lockName the lock that was lost
     * @param reason why
     */
    public LockLostException(String lockName, LossReason reason) {
        this(lockName, reason, "");
    }

    /**
     * Makes an exception that names the engine's hosts.
     *
     * @param lockName the lock that was lost
     * @param reason why
     * @param address the hosts and ports of the engine, without credentials; empty if there are none
     */
    public LockLostException(String lockName, LossReason reason, String address) {
        super("Lock '" + lockName + "' was lost: " + reason.explanation()
                + (address.isEmpty() ? "" : " (engine at " + address + ")")
                + ". Another holder may have had it since; treat the work as unprotected.");
        this.lockName = lockName;
        this.reason = reason;
    }

    /**
     * Names the lock that was lost.
     *
     * @return the lock's name
     */
    @Override
    public String lockName() {
        return lockName;
    }

    /**
     * Says why it was lost.
     *
     * @return the reason
     */
    public LossReason reason() {
        return reason;
    }
}
