package dev.lockstep;

import org.jspecify.annotations.Nullable;

/**
 * The common part of all exceptions of Lockstep, {@link LockLostException} included: the lock that they are about. For
 * code that handles them alike:
 *
 * <pre>{@code
 * catch (RuntimeException e) {
 *     if (e instanceof LockFailure failure) {
 *         log.warn("Work under lock {} failed", failure.lockName(), e);
 *     }
 *     throw e;
 * }
 * }</pre>
 *
 * <p>A name must not become a tag of a metric: there may be any number of names. Use a group instead: see {@link
 * LockOptions#group(String)}.
 *
 * <p>Immutable.
 */
public interface LockFailure {
    /**
     * Names the lock that this is about.
     *
     * @return the lock's name, or null if this is about none, such as a bad URL
     */
    @Nullable
    String lockName();
}
