package dev.lockstep;

/**
 * Work without a result that is done under a lock.
 *
 * @param <E> what it throws; inferred as an unchecked exception where it throws nothing checked
 */
@FunctionalInterface
public interface LockAction<E extends Exception> {
    /**
     * Does the work.
     *
     * @param lease the hold; its token goes to storage with each write. It is closed by the template
     * @throws E what went wrong
     */
    void run(Lease lease) throws E;
}
