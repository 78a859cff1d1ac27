package dev.lockstep.etcd;

import dev.lockstep.HolderInfo;
import dev.lockstep.LockMode;
import dev.lockstep.LossReason;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.Grant;
import dev.lockstep.spi.GrantListener;
import dev.lockstep.spi.LockBackend;
import java.time.Duration;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;

/** A claim as the core would make it, for tests that talk to a backend. */
record TestClaim(
        String name,
        LockMode mode,
        OptionalInt limit,
        int permits,
        boolean mayWait,
        Duration blockAtMost,
        String claimId,
        CompletableFuture<LossReason> lost)
        implements ClaimRequest {

    static TestClaim of(String name, String claimId) {
        return new TestClaim(
                name,
                LockMode.EXCLUSIVE,
                OptionalInt.empty(),
                1,
                true,
                LockBackend.DO_NOT_BLOCK,
                claimId,
                new CompletableFuture<>());
    }

    TestClaim blocking(Duration atMost) {
        return new TestClaim(name, mode, limit, permits, mayWait, atMost, claimId, lost);
    }

    @Override
    public boolean mayBarge() {
        return false;
    }

    @Override
    public HolderInfo holder() {
        return HolderInfo.of("test", "host", 1).withThread("main");
    }

    @Override
    public GrantListener listener() {
        return new GrantListener() {
            @Override
            public void lost(Grant grant, LossReason reason) {
                lost.complete(reason);
            }

            @Override
            public void wanted(Grant grant) {}
        };
    }

    @Override
    public long sentNanos() {
        return System.nanoTime();
    }
}
