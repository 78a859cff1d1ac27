package dev.lockstep.test;

import dev.lockstep.LockInfo;
import dev.lockstep.LossReason;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.Grant;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Scheduler;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A grant that a test can take away, and that is not renewed while the engine is away. Safe for use by many threads. */
final class FaultyGrant implements Grant {
    /** The state of the grant. The last two are final. */
    private enum State {
        HELD,
        RELEASED,
        LOST
    }

    private final FaultyBackend backend;
    private final ClaimRequest request;
    private final Grant real;

    // All guarded by this.
    private State state = State.HELD;
    private @Nullable Long notRenewedAfter; // the deadline that applies while the engine is unreachable
    private Scheduler.@Nullable Timer expiry;

    FaultyGrant(FaultyBackend backend, ClaimRequest request, Grant real) {
        this.backend = backend;
        this.request = request;
        this.real = real;
    }

    Grant real() {
        return real;
    }

    String lockName() {
        return request.name();
    }

    /** Called before the client gets it. */
    void begin() {
        backend.add(this);
        if (backend.wire().isAway()) {
            stopRenewal();
        }
    }

    /** Keeps the deadline. The real backend continues to renew, so the end must be caused here. */
    synchronized void stopRenewal() {
        if (state == State.HELD && notRenewedAfter == null) {
            long deadline = real.validUntilNanos();
            notRenewedAfter = deadline;
            expiry = backend.context().scheduler().schedule(deadline - now(), () -> lose(LossReason.EXPIRED));
        }
    }

    void resumeRenewal() {
        boolean late;
        synchronized (this) {
            late = notRenewedAfter != null && notRenewedAfter - now() <= 0;
            if (!late) {
                cancelExpiry();
                notRenewedAfter = null;
            }
        }
        if (late) {
            lose(LossReason.EXPIRED);
        }
    }

    /** Notifies the client first, and then lets others have the lock. */
    boolean lose(LossReason reason) {
        synchronized (this) {
            if (state != State.HELD) {
                return false;
            }
            state = State.LOST;
            cancelExpiry();
        }
        backend.remove(this);
        request.listener().lost(this, reason);
        real.release(LockBackend.DO_NOT_BLOCK);
        return true;
    }

    private synchronized void cancelExpiry() {
        if (expiry != null) {
            expiry.cancel();
            expiry = null;
        }
    }

    @Override
    public long token() {
        return real.token();
    }

    @Override
    public synchronized long validUntilNanos() {
        return notRenewedAfter != null ? notRenewedAfter : real.validUntilNanos();
    }

    @Override
    public boolean isWanted() {
        return real.isWanted();
    }

    @Override
    public CompletionStage<Boolean> release(Duration blockAtMost) {
        return end(blockAtMost, real::release);
    }

    @Override
    public CompletionStage<Boolean> releaseAfter(Duration rest, Duration blockAtMost) {
        return end(blockAtMost, block -> real.releaseAfter(rest, block));
    }

    private CompletionStage<Boolean> end(Duration blockAtMost, Function<Duration, CompletionStage<Boolean>> request) {
        long left;
        synchronized (this) {
            if (state != State.HELD) {
                return CompletableFuture.completedFuture(false);
            }
            left = validUntilNanos() - now();
            state = State.RELEASED;
            cancelExpiry();
        }
        backend.remove(this);
        Duration block = backend.wire().isAway() ? LockBackend.DO_NOT_BLOCK : blockAtMost;
        return backend.wire().send(left, () -> request.apply(block));
    }

    @Override
    public CompletionStage<Boolean> downgrade() {
        return backend.wire().send(validUntilNanos() - now(), real::downgrade);
    }

    @Override
    public CompletionStage<List<Integer>> slots() {
        return backend.wire().send(validUntilNanos() - now(), real::slots);
    }

    @Override
    public CompletionStage<Boolean> recordWait(Optional<LockInfo.Wait> wait) {
        return backend.wire().send(validUntilNanos() - now(), () -> real.recordWait(wait));
    }

    @Override
    public <T> Optional<T> unwrap(Class<T> type) {
        return real.unwrap(type);
    }

    private long now() {
        return backend.context().scheduler().nanoTime();
    }
}
