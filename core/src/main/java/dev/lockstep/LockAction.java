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
     * @param lease the hold; pass its token to storage with each write. The template closes it
     * @throws E what went wrong
     */
    void run(Lease lease) throws E;
}
