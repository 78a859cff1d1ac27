package dev.lockstep.internal.lock;

import dev.lockstep.Lease;
import dev.lockstep.LossReason;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** A read-only view of a hold that other code took: it cannot be closed. */
record ShownLease(Lease lease) implements Lease {
    @Override
    public String lockName() {
        return lease.lockName();
    }

    @Override
    public long token() {
        return lease.token();
    }

    @Override
    public long token(String lockName) {
        return lease.token(lockName);
    }

    @Override
    public boolean isFallback() {
        return lease.isFallback();
    }

    @Override
    public boolean isValid() {
        return lease.isValid();
    }

    @Override
    public Duration remaining() {
        return lease.remaining();
    }

    @Override
    public void ensureValid() {
        lease.ensureValid();
    }

    @Override
    public void onLost(Consumer<LossReason> action) {
        lease.onLost(action);
    }

    @Override
    public <T> Optional<T> unwrap(Class<T> type) {
        return lease.unwrap(type);
    }

    @Override
    public void close() {
        throw refusal();
    }

    @Override
    public CompletableFuture<Void> closeAsync() {
        throw refusal();
    }

    private UnsupportedOperationException refusal() {
        return new UnsupportedOperationException(
                "Lock '" + lockName()
                        + "': currentLease() only shows the hold. Release it as it was taken: by unlock(), or by closing its lease.");
    }

    @Override
    public String toString() {
        return lease.toString();
    }
}
