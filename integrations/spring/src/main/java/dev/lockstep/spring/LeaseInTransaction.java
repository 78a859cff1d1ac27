package dev.lockstep.spring;

import dev.lockstep.Lease;
import dev.lockstep.LockLostException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The lease of work in a caller's transaction. It is released when both have ended, the transaction and the work: by the
 * transaction if the work has ended before, and otherwise by the work, which then is asynchronous. Safe for use by several
 * threads.
 */
abstract class LeaseInTransaction {
    private static final Logger log = LoggerFactory.getLogger(LeaseInTransaction.class);

    private final boolean fenced;

    // Guarded by this.
    private @Nullable Lease lease; // null while asynchronous work waits for it
    private boolean working;
    private boolean transactionEnded;
    private boolean released;
    private boolean lossReported;
    private boolean hasResult;
    private @Nullable Object result;

    LeaseInTransaction(boolean fenced) {
        this.fenced = fenced;
    }

    /** The lock is acquired, and the work begins. */
    final synchronized void begin(Lease acquired) {
        lease = acquired;
        working = true;
    }

    /**
     * The work has returned or completed.
     *
     * @return whether the transaction releases the lease; if not, it has ended, and the work does
     */
    final synchronized boolean returned(@Nullable Object value) {
        result = value;
        hasResult = true;
        return threw();
    }

    /** The work has failed; see {@link #returned(Object)}. */
    final synchronized boolean threw() {
        working = false;
        released |= transactionEnded;
        return !released;
    }

    /** Before the commit, which must not happen without the lock. */
    final void ensureHeld() {
        Lease held = held();
        if (held != null && !fenced) {
            held.ensureValid();
        }
    }

    private synchronized @Nullable Lease held() {
        return released ? null : lease;
    }

    /** The exception for the caller about a loss that is known by now; null if there is none. */
    final @Nullable RuntimeException knownLoss() {
        try {
            ensureHeld();
            return null;
        } catch (LockLostException e) {
            return report(e);
        }
    }

    private synchronized @Nullable RuntimeException report(LockLostException loss) {
        lossReported = true;
        return hasResult ? Holding.problem(loss, fenced, result) : loss;
    }

    /** The transaction has ended. Returns the lease if it is to be released now, since the work has ended, too. */
    final synchronized @Nullable Lease end() {
        transactionEnded = true;
        if (lease == null || working || released) {
            return null;
        }
        released = true;
        return lease;
    }

    /** Releases after a commit, and returns what the caller learns about that; null if there is nothing to say. */
    final @Nullable RuntimeException release() {
        Lease held = end();
        if (held == null) {
            return null;
        }
        try {
            held.close();
            return null;
        } catch (RuntimeException e) {
            return problem(e);
        }
    }

    /** The exception for the caller about a release that went wrong. */
    final synchronized @Nullable RuntimeException problem(RuntimeException thrown) {
        return thrown instanceof LockLostException loss ? report(loss) : Holding.problem(thrown, fenced, result);
    }

    /** Releases when nobody gets an exception any more. */
    final void releaseQuietly(boolean committed) {
        Lease held = end();
        if (held == null) {
            return;
        }
        try {
            held.close();
        } catch (RuntimeException e) {
            log(held, e, committed);
        }
    }

    /** Logs that a release went wrong of which nobody hears. */
    final void log(Lease held, Throwable thrown, boolean committed) {
        if (!(thrown instanceof LockLostException)) {
            log.warn("Lock '{}' was not released after its transaction", held.lockName(), thrown);
        } else if (committed && !fenced && !isLossReported()) {
            log.error(
                    "Lock '{}' had been lost when its transaction was committed. The loss was discovered after the commit,"
                            + " too late to throw an exception to the caller.",
                    held.lockName(),
                    thrown);
        } else {
            log.debug("Lock '{}' had been lost when its transaction ended", held.lockName(), thrown);
        }
    }

    private synchronized boolean isLossReported() {
        return lossReported;
    }
}
