package dev.lockstep.internal.lock;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.internal.turnstile.Call;
import dev.lockstep.internal.turnstile.Hold;
import dev.lockstep.internal.turnstile.ReleaseFailures;
import dev.lockstep.internal.turnstile.Releases;
import dev.lockstep.internal.turnstile.TurnstileContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Several locks as one. They are taken in the order of their names, which is the same for all callers, so no two wait for
 * each other; they are released in the opposite order. {@link MultiTake} says how.
 */
public final class MultiLock implements DistributedLock {
    /** How many names a message shows: thousands would fill a log. */
    private static final int SHOWN = 10;

    private final TurnstileContext client;
    private final List<TurnstileLock> locks;
    private final String name;

    public MultiLock(TurnstileContext client, List<TurnstileLock> sorted) {
        this.client = client;
        this.locks = List.copyOf(sorted);
        this.name = shown(locks);
    }

    private static String shown(List<TurnstileLock> locks) {
        // One that is left out would be named as shortly as it is counted.
        int some = locks.size() <= SHOWN + 1 ? locks.size() : SHOWN;
        String names = locks.stream().limit(some).map(DistributedLock::name).collect(Collectors.joining(","));
        return some == locks.size() ? names : names + ",... (" + (locks.size() - some) + " more)";
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public List<String> names() {
        return locks.stream().map(DistributedLock::name).toList();
    }

    List<TurnstileLock> locks() {
        return locks;
    }

    // ---------------------------------------------------------------- taking

    private @Nullable List<Hold> take(long waitNanos, Releases.Part part) throws InterruptedException {
        return new MultiTake(client, this, waitNanos, true, part).run();
    }

    private @Nullable List<Hold> takeUninterruptibly(long waitNanos, Releases.Part part) {
        try {
            return new MultiTake(client, this, waitNanos, false, part).run();
        } catch (InterruptedException e) {
            throw new AssertionError("uninterruptible", e);
        }
    }

    @Override
    public void lock() {
        takeUninterruptibly(Call.NO_LIMIT, Releases.Part.LOCK);
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        take(Call.NO_LIMIT, Releases.Part.LOCK);
    }

    @Override
    public boolean tryLock() {
        return takeUninterruptibly(Call.NOT_AT_ALL, Releases.Part.LOCK) != null;
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
        long nanos = TurnstileLock.waitNanos(Duration.ofNanos(unit.toNanos(time)));
        return take(nanos, Releases.Part.LOCK) != null;
    }

    @Override
    public Lease acquire() throws InterruptedException {
        return all(take(Call.NO_LIMIT, Releases.Part.LEASE));
    }

    @Override
    public Lease acquireUninterruptibly() {
        return all(takeUninterruptibly(Call.NO_LIMIT, Releases.Part.LEASE));
    }

    private Lease all(@Nullable List<Hold> holds) {
        return together(holds)
                .orElseThrow(() -> new IllegalStateException("an unbounded wait ends with a hold or an exception"));
    }

    @Override
    public Optional<Lease> tryAcquire() {
        return together(takeUninterruptibly(Call.NOT_AT_ALL, Releases.Part.LEASE));
    }

    @Override
    public Optional<Lease> tryAcquire(Duration wait) throws InterruptedException {
        return together(take(TurnstileLock.waitNanos(wait), Releases.Part.LEASE));
    }

    private Optional<Lease> together(@Nullable List<Hold> holds) {
        return Optional.ofNullable(holds)
                .map(all -> lease(all.stream().map(HoldLease::new).toList()));
    }

    private Lease lease(List<HoldLease> leases) {
        return new MultiLease(name, client, leases);
    }

    @Override
    public CompletableFuture<Lease> acquireAsync() {
        return new AsyncMultiTake<>(client, this, Call.NO_LIMIT, leases -> lease(leases.orElseThrow())).start();
    }

    @Override
    public CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration wait) {
        return new AsyncMultiTake<>(client, this, TurnstileLock.waitNanos(wait), leases -> leases.map(this::lease))
                .start();
    }

    // ---------------------------------------------------------------- releasing and asking

    @Override
    public void unlock() {
        for (TurnstileLock lock : locks) {
            if (!lock.canUnlock()) {
                throw new IllegalMonitorStateException("Locks '" + name + "' are not all held by this thread.");
            }
        }
        ReleaseFailures failures = new ReleaseFailures();
        List<Hold> holds = locks.stream().map(TurnstileLock::unlockable).toList();
        Releases.releaseAll(holds, Releases.Part.LOCK, client, failures);
        failures.throwIfAny();
    }

    @Override
    public Optional<Lease> currentLease() {
        List<HoldLease> leases = new ArrayList<>();
        for (TurnstileLock lock : locks) {
            lock.currentHold().ifPresent(hold -> leases.add(new HoldLease(hold)));
        }
        return leases.size() < locks.size() ? Optional.empty() : Optional.of(new ShownLease(lease(leases)));
    }

    @Override
    public boolean isHeldByCurrentThread() {
        return locks.stream().allMatch(DistributedLock::isHeldByCurrentThread);
    }

    @Override
    public int holdCount() {
        return locks.stream().mapToInt(DistributedLock::holdCount).min().orElse(0);
    }

    @Override
    public String toString() {
        return "DistributedLock[" + name + "]";
    }
}
