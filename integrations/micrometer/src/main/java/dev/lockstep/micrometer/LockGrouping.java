package dev.lockstep.micrometer;

import org.jspecify.annotations.Nullable;

/**
 * Chooses the value of the tag {@code group} by the name of a lock. Called in the threads that call for locks, so it must be
 * quick and safe for use by many threads.
 */
@FunctionalInterface
public interface LockGrouping {
    /**
     * Chooses a group. Not called for a lock whose options have one ({@link dev.lockstep.LockOptions#group(String)}), as
     * those of {@code @Locked} do.
     *
     * @param lockName the lock's name
     * @return one of a few words; null for what comes before the first {@code :} of the name
     */
    @Nullable
    String group(String lockName);
}
