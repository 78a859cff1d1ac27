package dev.lockstep.internal.semaphore;

import dev.lockstep.LockLostException;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.LossReason;
import dev.lockstep.Permit;
import dev.lockstep.ReleaseNotConfirmedException;
import dev.lockstep.internal.concurrent.CallerContext;
import dev.lockstep.spi.LockBackend;
import java.lang.ref.ReferenceQueue;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The handle of permits. */
final class PermitHandle implements Permit {
    private final PermitHold hold;
    private final SemaphoreHost host;
    private final AtomicBoolean closed = new AtomicBoolean();
    private volatile @Nullable List<Integer> slots;

    private PermitHandle(PermitHold hold) {
        this.hold = hold;
        this.host = hold.host();
    }

    /** The only handle of a hold: when it becomes unreachable, the permits are released. */
    static Permit of(PermitHold hold, ReferenceQueue<Permit> unreachable) {
        PermitHandle handle = new PermitHandle(hold);
        hold.noticedBy(new PermitReference(handle, hold, unreachable));
        return handle;
    }

    @Override
    public String lockName() {
        return hold.name();
    }

    @Override
    public long token() {
        return hold.token();
    }

    @Override
    public long token(String lockName) {
        if (!lockName.equals(lockName())) {
            throw new IllegalArgumentException(
                    "This is a permit of semaphore '" + lockName() + "', not of '" + lockName + "'.");
        }
        return token();
    }

    @Override
    public List<Integer> slots() {
        List<Integer> known = slots;
        if (known == null) {
            ensureValid();
            known = await(hold.grant().slots().toCompletableFuture());
            slots = known;
        }
        return known;
    }

    private List<Integer> await(CompletableFuture<List<Integer>> answer) {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return List.copyOf(answer.get(host.requestTimeout().toNanos(), TimeUnit.NANOSECONDS));
                } catch (InterruptedException e) {
                    interrupted = true;
                } catch (TimeoutException e) {
                    throw new LockUnavailableException(
                            lockName(),
                            "Semaphore '" + lockName() + "': " + host.engine()
                                    + " did not name the slot of a permit within "
                                    + host.requestTimeout().toMillis() + " ms.");
                } catch (ExecutionException e) {
                    ensureValid(); // the engine may have found out that the permit was lost
                    throw host.failure(lockName(), e.getCause());
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    public boolean isFallback() {
        return false;
    }

    @Override
    public boolean isValid() {
        return !closed.get() && hold.isValid();
    }

    @Override
    public Duration remaining() {
        return isValid() ? Duration.ofNanos(hold.remainingNanos()) : Duration.ZERO;
    }

    @Override
    public void ensureValid() {
        if (isValid()) {
            return;
        }
        throw hold.end()
                .flatMap(PermitEnd::reason)
                .<RuntimeException>map(this::lost)
                .orElseGet(() -> new IllegalStateException("The permit of semaphore '" + lockName() + "' was closed."));
    }

    private LockLostException lost(LossReason reason) {
        boolean byEngine = reason != LossReason.MAX_HOLD_REACHED && reason != LossReason.CLIENT_CLOSED;
        return new LockLostException(
                lockName(), reason, byEngine ? host.backend().address() : "");
    }

    @Override
    public void onLost(Consumer<LossReason> action) {
        hold.onLost(CallerContext.carry(Objects.requireNonNull(action, "action")));
    }

    @Override
    public <T> Optional<T> unwrap(Class<T> type) {
        return hold.grant().unwrap(type);
    }

    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        long start = host.scheduler().monotonicNanos();
        CompletableFuture<Void> done = hold.release(host.requestTimeout());
        long left = host.requestTimeout().toNanos() - (host.scheduler().monotonicNanos() - start);
        boolean interrupted = false;
        while (!done.isDone() && left > 0) {
            try {
                done.get(left, TimeUnit.NANOSECONDS);
            } catch (InterruptedException e) {
                interrupted = true;
            } catch (TimeoutException | ExecutionException e) {
                break;
            }
            left = host.requestTimeout().toNanos() - (host.scheduler().monotonicNanos() - start);
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        RuntimeException failure = failure();
        if (failure != null) {
            throw failure;
        }
    }

    @Override
    public CompletableFuture<Void> closeAsync() {
        CompletableFuture<Void> ended = new CompletableFuture<>();
        if (!closed.compareAndSet(false, true)) {
            ended.complete(null);
            return ended;
        }
        CompletableFuture<Void> done = hold.release(LockBackend.DO_NOT_BLOCK);
        if (done.isDone()) {
            complete(ended);
            return ended;
        }
        var timer =
                host.scheduler().schedule(host.requestTimeout().toNanos(), () -> host.execute(() -> complete(ended)));
        done.whenComplete((known, error) -> {
            timer.cancel();
            host.execute(() -> complete(ended));
        });
        return CallerContext.carry(ended);
    }

    private void complete(CompletableFuture<Void> ended) {
        RuntimeException failure = failure();
        if (failure == null) {
            ended.complete(null);
        } else {
            ended.completeExceptionally(failure);
        }
    }

    /**
     * The exception for the owner; null if the permit was released. A hold that has no end yet was not confirmed in
     * time.
     */
    private @Nullable RuntimeException failure() {
        hold.unconfirmed();
        hold.reportEnd();
        PermitEnd end = hold.end().orElse(PermitEnd.UNCONFIRMED);
        if (end.reason().isPresent()) {
            return lost(end.reason().get());
        }
        if (end == PermitEnd.RELEASED) {
            return null;
        }
        return new ReleaseNotConfirmedException(
                lockName(),
                "Semaphore '" + lockName() + "': the work under its permit is done, but " + host.engine()
                        + " did not confirm the release. It continues in the background; the permit is free after the"
                        + " ttl at the latest.",
                null);
    }

    @Override
    public String toString() {
        return "Permit[" + lockName() + (closed.get() ? ", closed]" : "]");
    }
}
