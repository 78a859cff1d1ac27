package dev.lockstep;

import org.jspecify.annotations.Nullable;

/**
 * Work that is done under a lock.
 *
 * @param <T> what it returns
 * @param <E> what it throws; inferred as an unchecked exception where it throws nothing checked
 */
@FunctionalInterface
public interface LockCallback<T extends @Nullable Object, E extends Exception> {
    /**
     * Does the work.
     *
     * @param lease the hold; pass its token to storage with each write. The template closes it
     * @return the result
     * @throws E what went wrong
     */
    T run(Lease lease) throws E;
}
