package dev.lockstep.zookeeper;

import dev.lockstep.HolderInfo;
import dev.lockstep.LockMode;
import dev.lockstep.LossReason;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.Grant;
import dev.lockstep.spi.GrantListener;
import java.time.Duration;

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
        return HolderInfo.of("test", "here", 1).withThread("main");
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
