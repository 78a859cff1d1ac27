package dev.lockstep.shedlock;

import java.time.Duration;
import java.util.Optional;
import net.javacrumbs.shedlock.core.SimpleLock;

/**
 * Two locks of ShedLock, of which the second was acquired under the first. Immutable.
 *
 * @param first the outer
 * @param second the inner
 */
record BothLocks(SimpleLock first, SimpleLock second) implements SimpleLock {
    @Override
    public void unlock() {
        try {
            second.unlock();
        } catch (RuntimeException | Error e) {
            unlockAfter(e, first);
            throw e;
        }
        first.unlock();
    }

    @Override
    public Optional<SimpleLock> extend(Duration lockAtMostFor, Duration lockAtLeastFor) {
        return first.extend(lockAtMostFor, lockAtLeastFor)
                .flatMap(longer -> extendSecond(longer, lockAtMostFor, lockAtLeastFor));
    }

    /** If the second lock cannot be extended, nobody has a handle that could release the extended first one. */
    private Optional<SimpleLock> extendSecond(SimpleLock longer, Duration lockAtMostFor, Duration lockAtLeastFor) {
        Optional<SimpleLock> ours;
        try {
            ours = second.extend(lockAtMostFor, lockAtLeastFor);
        } catch (RuntimeException | Error e) {
            unlockAfter(e, longer);
            throw e;
        }
        if (ours.isEmpty()) {
            longer.unlock();
        }
        return ours.map(lock -> new BothLocks(longer, lock));
    }

    static void unlockAfter(Throwable thrown, SimpleLock lock) {
        try {
            lock.unlock();
        } catch (RuntimeException e) {
            thrown.addSuppressed(e);
        }
    }
}
