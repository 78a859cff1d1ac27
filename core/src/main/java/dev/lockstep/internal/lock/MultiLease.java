package dev.lockstep.internal.lock;

import dev.lockstep.Lease;
import dev.lockstep.LossReason;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/** The leases of several locks as one: valid while all are, lost with the first of them. */
final class MultiLease implements Lease {
    private final String name;
    private final List<Lease> leases;

    MultiLease(String name, List<Lease> leases) {
        this.name = name;
        this.leases = List.copyOf(leases);
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
        for (Lease lease : leases) {
            if (lease.lockName().equals(lockName)) {
                return lease.token();
            }
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
        AtomicBoolean told = new AtomicBoolean();
        for (Lease lease : leases) {
            lease.onLost(reason -> {
                if (told.compareAndSet(false, true)) {
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
        MultiLock.giveBackAll(leases, Lease::close);
    }

    @Override
    public CompletableFuture<Void> closeAsync() {
        List<CompletableFuture<Void>> closing =
                leases.stream().map(Lease::closeAsync).toList();
        return CompletableFuture.allOf(closing.toArray(CompletableFuture[]::new))
                .handle((done, failure) -> {
                    MultiLock.giveBackAll(closing, MultiLease::ensureClosed);
                    return null;
                });
    }

    private static void ensureClosed(CompletableFuture<Void> closed) {
        try {
            closed.join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof RuntimeException cause ? cause : e;
        }
    }

    @Override
    public String toString() {
        return "Lease[" + name + "]";
    }
}
