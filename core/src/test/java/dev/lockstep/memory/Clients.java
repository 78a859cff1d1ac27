package dev.lockstep.memory;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.HolderInfo;
import dev.lockstep.LockMode;
import dev.lockstep.LossReason;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.Contexts;
import dev.lockstep.spi.Grant;
import dev.lockstep.spi.GrantListener;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Outcome;
import dev.lockstep.spi.Scheduler;
import java.time.Duration;
import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.CompletableFuture;

/** Makes bare clients of an engine, without the core, and says in one word what tests ask of claims. */
final class Clients {
    /** The events of each grant that the listeners received. */
    private static final Map<Grant, CompletableFuture<LossReason>> LOSSES =
            Collections.synchronizedMap(new WeakHashMap<>());

    private Clients() {}

    /** A client, its claims as short calls. */
    record Client(LockBackend backend, BackendContext context) implements AutoCloseable {
        Claim exclusive(String name) {
            return submit(name, LockMode.EXCLUSIVE, true, false);
        }

        Claim shared(String name) {
            return submit(name, LockMode.SHARED, true, false);
        }

        Claim tryExclusive(String name) {
            return submit(name, LockMode.EXCLUSIVE, false, true);
        }

        Claim tryShared(String name) {
            return submit(name, LockMode.SHARED, false, true);
        }

        Claim submit(String name, LockMode mode, boolean mayWait, boolean mayBarge) {
            return backend.submit(request(name, mode, mayWait, mayBarge));
        }

        ClaimRequest request(String name, LockMode mode, boolean mayWait, boolean mayBarge) {
            return new Request(
                    name, mode, mayWait, mayBarge, context, context.scheduler().nanoTime());
        }

        @Override
        public void close() {
            backend.close();
        }
    }

    static Client open(MemoryEngine engine, String name, Scheduler scheduler) {
        BackendContext context = Contexts.of(name, scheduler);
        return new Client(engine.open(context), context);
    }

    static CompletableFuture<Outcome> outcome(Claim claim) {
        return claim.outcome().toCompletableFuture();
    }

    static Grant granted(Claim claim) {
        assertThat(outcome(claim)).isCompleted();
        return ((Outcome.Granted) outcome(claim).join()).grant();
    }

    static void assertWaits(Claim... claims) {
        for (Claim claim : claims) {
            assertThat(outcome(claim)).isNotDone();
        }
    }

    static void assertBusy(Claim claim) {
        assertThat(outcome(claim)).isCompletedWithValue(Outcome.Busy.INSTANCE);
    }

    static CompletableFuture<Boolean> release(Claim claim) {
        return release(granted(claim));
    }

    static CompletableFuture<Boolean> release(Grant grant) {
        return grant.release(LockBackend.DO_NOT_BLOCK).toCompletableFuture();
    }

    static CompletableFuture<Void> withdraw(Claim claim) {
        return claim.withdraw(LockBackend.DO_NOT_BLOCK).toCompletableFuture();
    }

    static CompletableFuture<Boolean> downgrade(Claim claim) {
        return granted(claim).downgrade().toCompletableFuture();
    }

    static boolean isWanted(Claim claim) {
        return granted(claim).isWanted();
    }

    static CompletableFuture<LossReason> lost(Claim claim) {
        return lossOf(granted(claim));
    }

    private static CompletableFuture<LossReason> lossOf(Grant grant) {
        return LOSSES.computeIfAbsent(grant, key -> new CompletableFuture<>());
    }

    private record Request(
            String name, LockMode mode, boolean mayWait, boolean mayBarge, BackendContext context, long sentNanos)
            implements ClaimRequest {
        @Override
        public GrantListener listener() {
            return new GrantListener() {
                @Override
                public void lost(Grant grant, LossReason reason) {
                    lossOf(grant).complete(reason);
                }

                @Override
                public void wanted(Grant grant) {}
            };
        }

        @Override
        public Duration blockAtMost() {
            return Duration.ZERO;
        }

        @Override
        public String claimId() {
            return context.clientName() + '.' + sentNanos; // shown to operators; nothing decides by it
        }

        @Override
        public HolderInfo holder() {
            return HolderInfo.of(context.clientName(), "host", 1).withThread("thread");
        }
    }
}
