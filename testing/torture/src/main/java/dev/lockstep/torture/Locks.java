package dev.lockstep.torture;

import dev.lockstep.DistributedLock;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockOptions;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The locks of a client by their numbers. Of each four the second is fair and the third is sticky, where the engine has
 * such locks; the first and the last are plain, and taken together as multi-locks. Immutable.
 *
 * @param client the client
 * @param hasShared whether the engine has read-write locks
 * @param hasFair whether it has fair locks
 * @param hasSemaphores whether it has semaphores
 * @param sticky how long sticky locks are kept; null if it has none
 */
record Locks(
        LockClient client,
        boolean hasShared,
        boolean hasFair,
        boolean hasSemaphores,
        @Nullable Duration sticky) {
    private static final int KINDS = 4;

    static Locks of(LockClient client, Duration stickiness) {
        LockOptions sticky = LockOptions.defaults().sticky(stickiness);
        boolean hasSticky = works(() -> client.lock("probe", sticky));
        return new Locks(
                client,
                works(() -> client.readWriteLock("probe")),
                works(() -> client.lock("probe", LockOptions.defaults().fair())),
                works(() -> client.semaphore("probe", Resources.PERMITS)),
                hasSticky ? stickiness : null);
    }

    private static boolean works(Runnable attempt) {
        try {
            attempt.run();
            return true;
        } catch (LockConfigurationException e) {
            return false;
        }
    }

    static String name(int lock) {
        return "torture-" + lock;
    }

    boolean isFair(int lock) {
        return hasFair && lock % KINDS == 1;
    }

    /** Whether it is sticky where the engine has such locks. */
    static boolean maybeSticky(int lock) {
        return lock % KINDS == 2;
    }

    private LockOptions options(int lock) {
        if (isFair(lock)) {
            return LockOptions.defaults().fair();
        }
        return sticky != null && maybeSticky(lock) ? LockOptions.defaults().sticky(sticky) : LockOptions.defaults();
    }

    DistributedLock get(int lock, boolean shared) {
        return get(name(lock), options(lock), shared);
    }

    /** The same lock, with an upper bound for a hold. */
    DistributedLock get(int lock, boolean shared, Duration lease) {
        return get(name(lock), options(lock).maxHold(lease), shared);
    }

    private DistributedLock get(String name, LockOptions options, boolean shared) {
        return shared ? client.readWriteLock(name, options).readLock() : client.lock(name, options);
    }

    /** The plain ones of some locks that can be taken together: a first and a last of four. */
    static boolean canBeTakenTogether(int lock, int locks) {
        return lock % KINDS == 0 && lock + KINDS - 1 < locks;
    }

    static int partner(int lock) {
        return lock + KINDS - 1;
    }

    DistributedLock both(int lock) {
        // Named in the wrong order: that must not matter.
        return client.multiLock(List.of(name(partner(lock)), name(lock)), LockOptions.defaults());
    }
}
