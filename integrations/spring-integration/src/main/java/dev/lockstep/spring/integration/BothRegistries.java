package dev.lockstep.spring.integration;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.locks.Lock;
import org.springframework.integration.support.locks.ExpirableLockRegistry;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.integration.support.locks.RenewableLockRegistry;

/** A registry whose locks are locks of two registries. Immutable, safe for use by many threads. */
@SuppressWarnings("rawtypes")
final class BothRegistries implements ExpirableLockRegistry, RenewableLockRegistry {
    private final LockRegistry old;
    private final LockstepLockRegistry ours;

    BothRegistries(LockRegistry old, LockstepLockRegistry ours) {
        this.old = Objects.requireNonNull(old, "old");
        this.ours = ours;
    }

    @Override
    public Lock obtain(Object lockKey) {
        return Locks.timed(new BothLocks(old.obtain(lockKey), ours.obtain(lockKey)));
    }

    @Override
    public void renewLock(Object lockKey) {
        ours.renewLock(lockKey);
        if (old instanceof RenewableLockRegistry renewable) {
            renewable.renewLock(lockKey);
        }
    }

    @Override
    public void renewLock(Object lockKey, Duration ttl) {
        ours.renewLock(lockKey);
        if (old instanceof RenewableLockRegistry renewable) {
            renewable.renewLock(lockKey, ttl);
        }
    }

    @Override
    public void expireUnusedOlderThan(long age) {
        if (old instanceof ExpirableLockRegistry expirable) {
            expirable.expireUnusedOlderThan(age);
        }
    }
}
