package dev.lockstep.shedlock;

import dev.lockstep.Lease;
import dev.lockstep.ReleaseNotConfirmedException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import net.javacrumbs.shedlock.core.AbstractSimpleLock;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A lease as ShedLock sees it. Used by one thread at a time, as ShedLock does. */
final class LeasedLock extends AbstractSimpleLock {
    private static final Logger log = LoggerFactory.getLogger(LeasedLock.class);

    private final Lease lease;

    /** Not to be released before this, by {@code System.nanoTime()}. The engine knows the minimum of the first lock only. */
    private final long notBefore;

    LeasedLock(LockConfiguration configuration, Lease lease) {
        this(configuration, lease, System.nanoTime());
    }

    private LeasedLock(LockConfiguration configuration, Lease lease, long notBefore) {
        super(configuration);
        this.lease = lease;
        this.notBefore = notBefore;
    }

    @Override
    protected void doUnlock() {
        long early = notBefore - System.nanoTime();
        if (early > 0) {
            releaseIn(early);
            return;
        }
        try {
            lease.close();
        } catch (ReleaseNotConfirmedException e) {
            log.warn("{} The task has run.", e.getMessage());
        }
    }

    @SuppressWarnings("FutureReturnValueIgnored") // what goes wrong is logged
    private void releaseIn(long nanos) {
        lease.ensureValid();
        CompletableFuture.delayedExecutor(nanos, TimeUnit.NANOSECONDS)
                .execute(() -> lease.closeAsync().whenComplete((done, problem) -> {
                    if (problem != null) {
                        log.warn("Lock '{}' was not released after its minimum time", lease.lockName(), problem);
                    }
                }));
    }

    /** The lock lasts for as long as its process, so only the minimum is new. */
    @Override
    protected Optional<SimpleLock> doExtend(LockConfiguration longer) {
        if (!lease.isValid()) {
            return Optional.empty();
        }
        Duration atLeast = LockstepLockProvider.options(longer.getLockAtLeastFor())
                .minHold()
                .orElse(Duration.ZERO);
        return Optional.of(new LeasedLock(longer, lease, System.nanoTime() + atLeast.toNanos()));
    }
}
