package dev.lockstep.shedlock;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockOptions;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;

/**
 * ShedLock's lock provider on locks of Lockstep:
 *
 * <pre>{@code
 * @Bean
 * LockProvider lockProvider(LockClient client) {
 *     return new LockstepLockProvider(client);
 * }
 * }</pre>
 *
 * <ul>
 *   <li>The lock has ShedLock's name.
 *   <li>{@code lockAtLeastFor} is {@link LockOptions#minHold(Duration)}, by the engine's clock.
 *   <li>{@code lockAtMostFor} is not used. The lock is renewed for as long as its process lives, and free the client's ttl after
 *       it has died; so a task that takes longer than expected still runs alone.
 *   <li>If the engine does not answer, {@code lock} throws {@code LockUnavailableException}: the task does not run, and the
 *       scheduler logs why. An empty result always means that the lock is held elsewhere.
 *   <li>If the lock was lost while the task ran, {@code unlock} throws {@code LockLostException}.
 * </ul>
 *
 * <p>Immutable, safe for use by many threads. It does not close the client.
 */
public final class LockstepLockProvider implements ExtensibleLockProvider {
    private static final Duration SHORTEST = Duration.ofMillis(1);

    private final LockClient client;

    /**
     * Makes a provider.
     *
     * @param client the source of the locks
     */
    public LockstepLockProvider(LockClient client) {
        this.client = Objects.requireNonNull(client, "client");
    }

    /**
     * A provider for the time of a migration. Each of its locks is a lock of the old provider and one of this provider, acquired
     * in that order: so it excludes instances that use the old provider only, and those that use this one only.
     *
     * @param old the provider to move away from
     * @return a provider of both
     */
    public LockProvider alongside(LockProvider old) {
        Objects.requireNonNull(old, "old");
        return configuration -> old.lock(configuration).flatMap(first -> both(first, configuration));
    }

    private Optional<SimpleLock> both(SimpleLock first, LockConfiguration configuration) {
        Optional<SimpleLock> second;
        try {
            second = lock(configuration);
        } catch (RuntimeException | Error e) {
            BothLocks.unlockAfter(e, first);
            throw e;
        }
        if (second.isEmpty()) {
            first.unlock();
        }
        return second.map(ours -> new BothLocks(first, ours));
    }

    /** Acquires a lock, if nobody holds it, not even the calling thread. */
    @Override
    public Optional<SimpleLock> lock(LockConfiguration configuration) {
        try {
            // The lease belongs to the handle: it is not reentrant, and ShedLock may unlock in another thread.
            Optional<Lease> lease = client.lock(configuration.getName(), options(configuration.getLockAtLeastFor()))
                    .tryAcquireAsync(Duration.ZERO)
                    .join();
            return lease.map(held -> new LeasedLock(configuration, held));
        } catch (CompletionException e) {
            throw e.getCause() instanceof RuntimeException cause ? cause : e;
        }
    }

    /** With a minimum that is checked: neither the engine nor a calculation of times can overflow. */
    static LockOptions options(Duration atLeast) {
        if (atLeast.isZero() || atLeast.isNegative()) {
            return LockOptions.defaults();
        }
        return LockOptions.defaults().minHold(atLeast.compareTo(SHORTEST) < 0 ? SHORTEST : atLeast);
    }
}
