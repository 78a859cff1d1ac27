package dev.lockstep.zookeeper;

import dev.lockstep.HolderInfo;
import dev.lockstep.LockMode;
import dev.lockstep.LossReason;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.Grant;
import dev.lockstep.spi.GrantListener;
import java.time.Duration;
import java.time.Instant;

/** A claim that may wait, as the core would make it; for tests that need to know its id. */
record TestClaim(String name, String claimId) implements ClaimRequest, GrantListener {
    @Override
    public LockMode mode() {
        return LockMode.EXCLUSIVE;
    }

    @Override
    public boolean mayWait() {
        return true;
    }

    @Override
    public boolean mayBarge() {
        return true;
    }

    @Override
    public Duration blockAtMost() {
        return Duration.ZERO;
    }

    @Override
    public HolderInfo holder() {
        return new HolderInfo("test", "here", 1, "main", Instant.EPOCH, false);
    }

    @Override
    public GrantListener listener() {
        return this;
    }

    @Override
    public long sentNanos() {
        return System.nanoTime();
    }

    @Override
    public void lost(Grant grant, LossReason reason) {}

    @Override
    public void wanted(Grant grant) {}
}
