package dev.lockstep.internal.semaphore;

import dev.lockstep.DistributedSemaphore;
import dev.lockstep.LockInfo;
import dev.lockstep.LockOptions;
import dev.lockstep.Permit;
import dev.lockstep.internal.concurrent.CallerContext;
import dev.lockstep.spi.Durations;
import dev.lockstep.spi.Limits;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A semaphore of a client: makes calls, and nothing in it changes. */
final class ClientSemaphore implements DistributedSemaphore {
    private final Semaphores semaphores;
    private final SemaphoreHost host;
    private final String name;
    private final int permits;
    private final LockOptions options;

    ClientSemaphore(Semaphores semaphores, String name, int permits, LockOptions options) {
        this.semaphores = semaphores;
        this.host = semaphores.host();
        this.name = name;
        this.permits = permits;
        this.options = options;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public int permits() {
        return permits;
    }

    @Override
    public int availablePermits() {
        LockInfo info = host.inspect(name);
        boolean used = !info.isFree() || !info.waiters().isEmpty();
        if (used && !info.limit().equals(OptionalInt.of(permits))) {
            throw Limits.conflict(name, OptionalInt.of(permits), info.limit());
        }
        int taken = info.holders().stream().mapToInt(LockInfo.Entry::permits).sum();
        return Math.max(permits - taken, 0);
    }

    @Override
    public Permit acquire(int count) throws InterruptedException {
        return Objects.requireNonNull(take(count, PermitTerms.NO_LIMIT, true), "an unbounded wait ends with a permit");
    }

    @Override
    public Optional<Permit> tryAcquire() {
        try {
            return Optional.ofNullable(take(1, PermitTerms.NOT_AT_ALL, false));
        } catch (InterruptedException e) {
            throw new AssertionError("uninterruptible", e);
        }
    }

    @Override
    public Optional<Permit> tryAcquire(int count, Duration wait) throws InterruptedException {
        return Optional.ofNullable(take(count, waitNanos(wait), true));
    }

    /** A wait of a hundred years or more has no limit. */
    private static long waitNanos(Duration wait) {
        long nanos = Durations.waitNanos(wait);
        return nanos == Durations.LONGEST_LIMIT.toNanos() ? PermitTerms.NO_LIMIT : nanos;
    }

    /** Null if others have the permits and the time is up. */
    private @Nullable Permit take(int count, long waitNanos, boolean interruptible) throws InterruptedException {
        requireCount(count);
        if (interruptible && Thread.interrupted()) {
            throw new InterruptedException("Interrupted before acquiring semaphore '" + name + "'");
        }
        PermitCall call = call(count, waitNanos, false);
        PermitResult result;
        try {
            call.start();
            result = call.await(interruptible);
        } catch (InterruptedException | RuntimeException | Error e) {
            call.observation().failed(e);
            throw e;
        }
        return permit(call, result);
    }

    private @Nullable Permit permit(PermitCall call, PermitResult result) {
        if (result instanceof PermitResult.Failed failed) {
            RuntimeException thrown = failed.exception().get();
            call.observation().failed(thrown);
            throw thrown;
        }
        if (result instanceof PermitResult.Held held) {
            call.observation().acquired(held.hold().token());
            return PermitHandle.of(held.hold(), semaphores.unreachable());
        }
        call.observation().refused();
        return null;
    }

    @Override
    public CompletableFuture<Permit> acquireAsync() {
        return acquireAsync(1);
    }

    CompletableFuture<Permit> acquireAsync(int count) {
        requireCount(count);
        PermitCall call = call(count, PermitTerms.NO_LIMIT, true);
        CompletableFuture<Permit> future = new CompletableFuture<>();
        try {
            call.start();
        } catch (RuntimeException | Error e) {
            call.observation().failed(e);
            throw e;
        }
        future.whenComplete((done, error) -> {
            if (!call.result().isDone()) { // cancelled, or completed by other code
                call.giveUp(new PermitResult.GaveUp());
            }
        });
        Consumer<PermitResult> completion = CallerContext.carry(result -> complete(future, call, result));
        call.result().thenAccept(result -> host.execute(() -> completion.accept(result)));
        return future;
    }

    /** The first completion of the future decides: if it was cancelled, the permit is released. */
    private void complete(CompletableFuture<Permit> future, PermitCall call, PermitResult result) {
        if (result instanceof PermitResult.GaveUp || future.isDone()) {
            call.observation().cancelled();
            call.hold().drop();
            return;
        }
        Permit permit;
        try {
            permit = Objects.requireNonNull(permit(call, result), "a call that waits is not refused");
        } catch (RuntimeException e) {
            future.completeExceptionally(e);
            return;
        }
        if (!future.complete(permit)) {
            call.hold().drop();
        }
    }

    private PermitCall call(int count, long waitNanos, boolean async) {
        host.ensureOpen();
        return new PermitCall(semaphores, new PermitTerms(name, permits, count, options, waitNanos, async));
    }

    private void requireCount(int count) {
        if (count < 1 || count > permits) {
            throw new IllegalArgumentException("Semaphore '" + name + "' has " + permits
                    + " permits; a call can acquire 1 to " + permits + " of them, not " + count + ".");
        }
    }

    @Override
    public String toString() {
        return "DistributedSemaphore[" + name + ", " + permits + " permits]";
    }
}
