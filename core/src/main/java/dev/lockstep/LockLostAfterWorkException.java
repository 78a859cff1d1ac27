package dev.lockstep;

import org.jspecify.annotations.Nullable;

/**
 * {@link LockTemplate#execute} ran its work to the end and found afterwards that the lock had been lost: the work was
 * done once, and another holder may have worked at the same time. {@link #result()} is what the work returned.
 *
 * <p>Storage that checks tokens has refused writes that came too late. Work that is protected in this way does not need
 * this exception: see {@link LockTemplate#fenced()}.
 */
public class LockLostAfterWorkException extends LockLostException {
    private static final long serialVersionUID = 1L;

    /** The result of the work. */
    private final transient @Nullable Object result;

    /**
     * Makes an exception.
     *
     * @param lockName the lock that was lost
     * @param reason why
     * @param result what the work returned
     */
    public LockLostAfterWorkException(String lockName, LossReason reason, @Nullable Object result) {
        super(lockName, reason);
        this.result = result;
    }

    /**
     * The result of the work.
     *
     * @return its result; null if that was null, or if this exception was deserialized
     */
    public @Nullable Object result() {
        return result;
    }
}
