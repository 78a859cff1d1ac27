package dev.lockstep.internal.lock;

import dev.lockstep.Lease;
import dev.lockstep.LossReason;
import dev.lockstep.internal.concurrent.CallerContext;
import dev.lockstep.internal.turnstile.Hold;
import dev.lockstep.internal.turnstile.ReleaseFailures;
import dev.lockstep.internal.turnstile.Releases;
import dev.lockstep.internal.turnstile.TurnstileContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/** The leases of several locks as one: valid while all are, lost with the first of them. */
final class MultiLease implements Lease {
    private final String name;
    private final TurnstileContext client;
    private final List<HoldLease> leases;

    /**
     * Makes the lease of several locks.
     *
     * @param sorted the leases, in the order of the locks' names
     */
    MultiLease(String name, TurnstileContext client, List<HoldLease> sorted) {
        this.name = name;
        this.client = client;
        this.leases = List.copyOf(sorted);
    }

    @Override
    public String lockName() {
        return name;
    }

    @Override
    public long token() {
        if (leases.size() == 1) {
            return leases.get(0).token();
        }
        throw new IllegalStateException("Locks '" + name + "' have a token each: use token(lockName).");
    }

    @Override
    public long token(String lockName) {
        int from = 0;
        int to = leases.size() - 1;
        while (from <= to) {
            int middle = (from + to) >>> 1;
            int order = leases.get(middle).lockName().compareTo(lockName);
            if (order == 0) {
                return leases.get(middle).token();
            }
            from = order < 0 ? middle + 1 : from;
            to = order < 0 ? to : middle - 1;
        }
        throw new IllegalArgumentException("This is a lease of locks '" + name + "', not of '" + lockName + "'.");
    }

    @Override
    public boolean isFallback() {
        return leases.stream().anyMatch(Lease::isFallback);
    }

    @Override
    public boolean isValid() {
        return leases.stream().allMatch(Lease::isValid);
    }

    @Override
    public Duration remaining() {
        return leases.stream().map(Lease::remaining).min(Duration::compareTo).orElse(Duration.ZERO);
    }

    @Override
    public void ensureValid() {
        leases.forEach(Lease::ensureValid);
    }

    @Override
    public void onLost(Consumer<LossReason> action) {
        AtomicBoolean notified = new AtomicBoolean();
        for (Lease lease : leases) {
            lease.onLost(reason -> {
                if (notified.compareAndSet(false, true)) {
                    action.accept(reason);
                }
            });
        }
    }

    @Override
    public <T> Optional<T> unwrap(Class<T> type) {
        return leases.size() == 1 ? leases.get(0).unwrap(type) : Optional.empty();
    }

    @Override
    public void close() {
        ReleaseFailures failures = new ReleaseFailures();
        Releases.releaseAll(closing(leases, failures), Releases.Part.LEASE, client, failures);
        failures.throwIfAny();
    }

    /** The holds of those leases that were not closed yet. From now on they are. */
    private static List<Hold> closing(List<HoldLease> leases, ReleaseFailures failures) {
        List<Hold> open = new ArrayList<>(leases.size());
        for (HoldLease lease : leases) {
            try {
                if (lease.mayClose()) {
                    open.add(lease.hold());
                }
            } catch (RuntimeException e) {
                failures.add(e);
            }
        }
        return open;
    }

    @Override
    public CompletableFuture<Void> closeAsync() {
        ReleaseFailures refusals = new ReleaseFailures();
        List<CompletableFuture<Void>> closing =
                Releases.releaseAllAsync(closing(leases, refusals), Releases.Part.LEASE, client);
        refusals.throwIfAny();
        return CallerContext.carry(CompletableFuture.allOf(closing.toArray(CompletableFuture[]::new))
                .handle((done, failure) -> {
                    ReleaseFailures failures = new ReleaseFailures();
                    closing.forEach(closed -> ensureClosed(closed, failures));
                    failures.throwIfAny();
                    return null;
                }));
    }

    /** Closes leases that nobody has seen yet. Done when the engine has confirmed it, or the request timeout has passed. */
    static CompletableFuture<Void> undo(List<HoldLease> leases, TurnstileContext client) {
        List<Hold> holds = closing(leases, new ReleaseFailures());
        return CompletableFuture.allOf(
                Releases.releaseAllAsync(holds, Releases.Part.LEASE, client).toArray(CompletableFuture[]::new));
    }

    private static void ensureClosed(CompletableFuture<Void> closed, ReleaseFailures failures) {
        try {
            closed.join();
        } catch (CompletionException e) {
            failures.add(e.getCause() instanceof RuntimeException cause ? cause : e);
        }
    }

    @Override
    public String toString() {
        return "Lease[" + name + "]";
    }
}
