package dev.lockstep.spi;

import dev.lockstep.HolderInfo;
import dev.lockstep.LockMode;
import java.time.Duration;
import java.util.OptionalInt;

/** The same request, except that it does not block the calling thread. */
record UnblockedRequest(ClaimRequest asked) implements ClaimRequest {
    @Override
    public String name() {
        return asked.name();
    }

    @Override
    public LockMode mode() {
        return asked.mode();
    }

    @Override
    public OptionalInt limit() {
        return asked.limit();
    }

    @Override
    public int permits() {
        return asked.permits();
    }

    @Override
    public boolean mayWait() {
        return asked.mayWait();
    }

    @Override
    public boolean mayBarge() {
        return asked.mayBarge();
    }

    @Override
    public Duration blockAtMost() {
        return LockBackend.DO_NOT_BLOCK;
    }

    @Override
    public String claimId() {
        return asked.claimId();
    }

    @Override
    public HolderInfo holder() {
        return asked.holder();
    }

    @Override
    public GrantListener listener() {
        return asked.listener();
    }

    @Override
    public long sentNanos() {
        return asked.sentNanos();
    }
}
