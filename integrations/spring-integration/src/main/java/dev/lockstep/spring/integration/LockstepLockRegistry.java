package dev.lockstep.spring.integration;

import dev.lockstep.DistributedLock;
import dev.lockstep.LockClient;
import dev.lockstep.LockOptions;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.locks.Lock;
import org.springframework.integration.support.locks.ExpirableLockRegistry;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.integration.support.locks.RenewableLockRegistry;

/**
 * Spring Integration's lock registry on locks of Lockstep, for Spring Integration 6.5 and 7:
 *
 * <pre>{@code
 * @Bean
 * LockRegistry locks(LockClient client) {
 *     return new LockstepLockRegistry(client);
 * }
 * }</pre>
 *
 * <p>The key of a lock becomes its name, by {@code toString()}; it must be the same text in every process. Two registries with
 * the same engine and namespace have the same locks, and {@code client.lock(name)} is the same lock again: {@code
 * client.lock(name).currentLease()} has the fencing token.
 *
 * <p>A lock is renewed for as long as its process lives. So nobody needs to call {@link #renewLock(Object)}, and a
 * time-to-live, which Spring Integration 7 can pass to {@code lock} and {@code tryLock}, is not used: the lock is free the
 * client's ttl after its process has died, and never while its holder lives and reaches the engine. To bound a hold, pass {@link
 * LockOptions#maxHold(Duration)}.
 *
 * <p>The locks throw the exceptions of {@link DistributedLock}: above all {@code LockLostException}, where the
 * registries of Spring Integration throw {@code ConcurrentModificationException}, and {@code LockUnavailableException}
 * if the engine does not answer.
 *
 * <p>Immutable, safe for use by many threads. It does not close the client.
 */
@SuppressWarnings("rawtypes") // the interfaces are generic in Spring Integration 7 only
public final class LockstepLockRegistry implements ExpirableLockRegistry, RenewableLockRegistry {
    private final LockClient client;
    private final LockOptions options;

    /**
     * Makes a registry of locks with default options.
     *
     * @param client the source of the locks
     */
    public LockstepLockRegistry(LockClient client) {
        this(client, LockOptions.defaults());
    }

    /**
     * Makes a registry.
     *
     * @param client the source of the locks
     * @param options how they behave
     */
    public LockstepLockRegistry(LockClient client, LockOptions options) {
        this.client = Objects.requireNonNull(client, "client");
        this.options = Objects.requireNonNull(options, "options");
    }

    /**
     * A registry for the time of a migration. Each of its locks is a lock of the old registry and one of this registry, acquired
     * in that order: so it excludes instances that use the old registry only, and those that use this one only.
     *
     * @param old the registry to move away from
     * @return a registry of both
     */
    public LockRegistry alongside(LockRegistry old) {
        return new BothRegistries(old, this);
    }

    /**
     * Gives a lock.
     *
     * @param lockKey its key
     * @return the lock; in Spring Integration 7 a {@code DistributedLock} of that
     * @throws IllegalArgumentException if the key's text would differ between processes, or is no name of a lock
     */
    @Override
    public Lock obtain(Object lockKey) {
        return Locks.timed(lock(lockKey));
    }

    private DistributedLock lock(Object key) {
        return client.lock(name(key), options);
    }

    private static String name(Object key) {
        String name = Objects.requireNonNull(key, "lockKey").toString();
        if (name.equals(key.getClass().getName() + "@" + Integer.toHexString(key.hashCode()))) { // that of Object
            throw new IllegalArgumentException("A " + key.getClass().getName()
                    + " has no text that is the same in every process. Use a String as the key of a lock.");
        }
        return name;
    }

    /**
     * Checks that the calling thread holds a lock. There is nothing else to do: locks are renewed by themselves.
     *
     * @param lockKey the lock's key
     * @throws IllegalStateException if the thread does not hold the lock, or has lost it
     */
    @Override
    public void renewLock(Object lockKey) {
        DistributedLock lock = lock(lockKey);
        if (!lock.isHeldByCurrentThread()) {
            throw new IllegalStateException("Lock '" + lock.name() + "' is not held by thread '"
                    + Thread.currentThread().getName() + "', so it cannot be renewed.");
        }
    }

    /**
     * Does what {@link #renewLock(Object)} does. Of Spring Integration 7.
     *
     * @param lockKey the lock's key
     * @param ttl not used
     * @throws IllegalStateException if the thread does not hold the lock, or has lost it
     */
    @Override
    public void renewLock(Object lockKey, Duration ttl) {
        renewLock(lockKey);
    }

    /**
     * Does nothing: a lock that nobody uses takes no memory.
     *
     * @param age not used
     */
    @Override
    public void expireUnusedOlderThan(long age) {}
}
