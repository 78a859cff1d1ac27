package dev.lockstep.internal.semaphore;

import dev.lockstep.HolderInfo;
import dev.lockstep.LockMode;
import dev.lockstep.internal.concurrent.ThreadName;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.GrantListener;
import dev.lockstep.spi.LockBackend;
import java.time.Duration;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** A call for permits as the engine sees it. Made in the thread of the call; safe for use by many threads. */
final class PermitRequest implements ClaimRequest {
    private final SemaphoreHost host;
    private final PermitTerms terms;
    private final long number;
    private final long sentNanos;
    private final GrantListener listener;
    private final ThreadName threadName;
    private @Nullable HolderInfo holder;

    PermitRequest(SemaphoreHost host, PermitTerms terms, long number, long sentNanos, GrantListener listener) {
        this.host = host;
        this.terms = terms;
        this.number = number;
        this.sentNanos = sentNanos;
        this.listener = listener;
        this.threadName = host.threadName();
    }

    @Override
    public String name() {
        return terms.name();
    }

    @Override
    public LockMode mode() {
        return LockMode.SHARED;
    }

    @Override
    public OptionalInt limit() {
        return OptionalInt.of(terms.limit());
    }

    @Override
    public int permits() {
        return terms.count();
    }

    @Override
    public boolean mayWait() {
        return terms.mayWait();
    }

    @Override
    public boolean mayBarge() {
        return !terms.options().isFair();
    }

    @Override
    public Duration blockAtMost() {
        return terms.async() ? LockBackend.DO_NOT_BLOCK : host.requestTimeout();
    }

    @Override
    public String claimId() {
        return host.claimId(number);
    }

    @Override
    public synchronized HolderInfo holder() {
        HolderInfo known = holder;
        if (known == null) {
            known = host.holder(threadName, sentNanos);
            holder = known;
        }
        return known;
    }

    @Override
    public GrantListener listener() {
        return listener;
    }

    @Override
    public long sentNanos() {
        return sentNanos;
    }
}
