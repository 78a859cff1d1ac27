package dev.lockstep.test;

import dev.lockstep.HolderInfo;
import dev.lockstep.LockMode;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.GrantListener;
import java.time.Duration;
import java.util.OptionalInt;

/**
 * A request whose signals go to another listener.
 *
 * @param original what was asked
 * @param listener who hears the signals
 */
record ObservedRequest(ClaimRequest original, GrantListener listener) implements ClaimRequest {
    @Override
    public String name() {
        return original.name();
    }

    @Override
    public LockMode mode() {
        return original.mode();
    }

    @Override
    public OptionalInt limit() {
        return original.limit();
    }

    @Override
    public int permits() {
        return original.permits();
    }

    @Override
    public boolean mayWait() {
        return original.mayWait();
    }

    @Override
    public boolean mayBarge() {
        return original.mayBarge();
    }

    @Override
    public Duration blockAtMost() {
        return original.blockAtMost();
    }

    @Override
    public String claimId() {
        return original.claimId();
    }

    @Override
    public HolderInfo holder() {
        return original.holder();
    }

    @Override
    public long sentNanos() {
        return original.sentNanos();
    }
}
