package dev.lockstep.internal.engine;

import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockMode;
import dev.lockstep.LockOptions;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Traits;
import java.time.Duration;

/** The name of an engine in messages, and the features that it lacks. */
public final class Engines {
    private Engines() {}

    /** The engine, as messages name it. */
    public static String describe(LockBackend backend) {
        String address = backend.address();
        return address.isEmpty() ? "the engine" : "the engine at " + address;
    }

    public static LockConfigurationException ttlTooShort(Duration ttl, Traits traits) {
        return new LockConfigurationException(
                null, "The ttl of " + ttl + " is below the engine's minimum of " + traits.minTtl() + ".");
    }

    /** Refuses what an engine cannot do. */
    public static void requireSupported(Traits traits, String lockName, LockMode mode, LockOptions options) {
        if (mode == LockMode.SHARED && !traits.shared()) {
            throw new LockConfigurationException(
                    lockName, "Lock '" + lockName + "': this engine has no shared locks. Use lock(name) instead.");
        }
        if (options.isFair() && !traits.fair()) {
            throw new LockConfigurationException(
                    lockName, "Lock '" + lockName + "': this engine keeps no order, so it has no fair locks.");
        }
        if (options.sticky().isPresent() && !traits.reportsWanted()) {
            throw new LockConfigurationException(
                    lockName,
                    "Lock '" + lockName
                            + "': this engine cannot report that another client wants a lock, so it has no sticky"
                            + " locks: a retained lock would never be recalled.");
        }
    }

    /** Refuses semaphores where an engine has none. */
    public static void requireLimits(Traits traits, String semaphoreName) {
        if (!traits.limits()) {
            throw new LockConfigurationException(
                    semaphoreName, "Semaphore '" + semaphoreName + "': this engine has no semaphores.");
        }
    }
}
