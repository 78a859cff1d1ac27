package dev.lockstep.internal;

import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
import dev.lockstep.spi.AbstractGrant;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.Grant;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Outcome;
import dev.lockstep.spi.Scheduler;
import dev.lockstep.spi.Traits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** An engine whose every answer the test gives itself, unless it asks for answers at once. */
public final class ScriptedBackend implements LockBackend {
    public static final Duration VALIDITY = Duration.ofSeconds(30);

    public final Scheduler scheduler;
    public final List<ScriptedClaim> claims = new ArrayList<>();
    public final List<ScriptedGrant> grants = new ArrayList<>();
    public boolean answersAtOnce;
    public boolean refuses;

    /** Names that another client holds: claims for them that do not wait are refused. */
    public final Set<String> busyNames = new HashSet<>();

    public int batchSize = 1;

    /** The names of each batch that was claimed, and how many grants each batch had that was released. */
    public final List<List<String>> claimBatches = new ArrayList<>();

    public final List<Integer> releaseBatches = new ArrayList<>();

    /** Whether what the engine answers says nothing of the claims. */
    public boolean answersOthers;

    /** Runs while a claim is being submitted, after its grant if that comes at once. */
    public Runnable meanwhile = () -> {};

    /** Runs while a grant is being released. */
    public Runnable whileReleasing = () -> {};

    public boolean reportsWanted = true;
    public boolean downgrades = true;
    public boolean reachable = true;
    public boolean closed;
    public String address = "";
    public int pings;
    public LockInfo info = LockInfo.free("a");
    public final Map<String, LockInfo> infos = new HashMap<>();
    public int inspections;

    /** How many of the next inspections fail. */
    public int failingInspections;

    /** Whether nothing is known of the next request to record a wait. */
    public boolean losesRecords;

    public long contact;
    private long token = 100;

    public ScriptedBackend(Scheduler scheduler) {
        this.scheduler = scheduler;
        this.contact = scheduler.nanoTime();
    }

    public final class ScriptedClaim implements Claim {
        public final ClaimRequest request;
        public final LockMode mode;
        public final CompletableFuture<Outcome> outcome = new CompletableFuture<>();
        public final CompletableFuture<Void> withdrawn = new CompletableFuture<>();
        public int withdrawals;

        ScriptedClaim(ClaimRequest request) {
            this.request = request;
            this.mode = request.mode();
        }

        public ScriptedGrant grant() {
            return grantAsOf(scheduler.nanoTime());
        }

        /** Grants with an answer to something sent at a time. */
        public ScriptedGrant grantAsOf(long sentNanos) {
            ScriptedGrant grant = new ScriptedGrant(request, sentNanos);
            grants.add(grant);
            contact();
            outcome.complete(new Outcome.Granted(grant));
            return grant;
        }

        public void busy() {
            contact();
            outcome.complete(Outcome.Busy.INSTANCE);
        }

        @Override
        public CompletionStage<Outcome> outcome() {
            return outcome;
        }

        @Override
        public boolean mustWait() {
            return !answersOthers && contact - request.sentNanos() >= 0;
        }

        @Override
        public CompletionStage<Void> withdraw(Duration blockAtMost) {
            withdrawals++;
            if (answersAtOnce) {
                withdrawn.complete(null);
            }
            return withdrawn;
        }
    }

    public final class ScriptedGrant extends AbstractGrant {
        public final CompletableFuture<Boolean> released = new CompletableFuture<>();
        public final CompletableFuture<Boolean> downgraded = new CompletableFuture<>();
        public int releases;
        public int downgradeCalls;
        public final List<Optional<LockInfo.Wait>> waits = new ArrayList<>();

        public ScriptedGrant(ClaimRequest request, long sentNanos) {
            super(request.listener(), ++token, sentNanos + VALIDITY.toNanos());
        }

        @Override
        public CompletionStage<Boolean> release(Duration blockAtMost) {
            releases++;
            whileReleasing.run();
            if (answersAtOnce) {
                released.complete(!isLost());
            }
            return released;
        }

        @Override
        public CompletionStage<Boolean> recordWait(Optional<LockInfo.Wait> wait) {
            waits.add(wait);
            return losesRecords
                    ? CompletableFuture.failedFuture(new IllegalStateException("no answer"))
                    : CompletableFuture.completedFuture(true);
        }

        @Override
        public <T> Optional<T> unwrap(Class<T> type) {
            return type == ScriptedGrant.class ? Optional.of(type.cast(this)) : Optional.empty();
        }

        @Override
        public CompletionStage<Boolean> downgrade() {
            downgradeCalls++;
            if (answersAtOnce) {
                downgraded.complete(downgrades);
            }
            return downgraded;
        }
    }

    public void contact() {
        contact = scheduler.nanoTime();
    }

    public ScriptedClaim claim(int index) {
        return claims.get(index);
    }

    public ScriptedGrant grant(int index) {
        return grants.get(index);
    }

    @Override
    public Traits traits() {
        return Traits.of(Duration.ofMillis(10))
                .withPush(true)
                .withReportsWanted(reportsWanted)
                .withShared(true)
                .withFair(true)
                .withLimits(true);
    }

    @Override
    public Claim submit(ClaimRequest request) {
        if (refuses) {
            throw new IllegalStateException("refused");
        }
        ScriptedClaim claim = new ScriptedClaim(request);
        claims.add(claim);
        if (answersAtOnce && !busyNames.contains(request.name())) {
            claim.grant();
        } else if (answersAtOnce && !request.mayWait()) {
            claim.busy();
        }
        meanwhile.run();
        return claim;
    }

    @Override
    public int batchSize() {
        return batchSize;
    }

    @Override
    public List<Claim> submitAll(List<? extends ClaimRequest> requests) {
        claimBatches.add(requests.stream().map(ClaimRequest::name).toList());
        return LockBackend.super.submitAll(requests);
    }

    @Override
    public List<CompletionStage<Boolean>> releaseAll(List<? extends Grant> released, Duration blockAtMost) {
        releaseBatches.add(released.size());
        return LockBackend.super.releaseAll(released, blockAtMost);
    }

    @Override
    public long lastContactNanos() {
        return contact;
    }

    @Override
    public CompletionStage<Void> ping() {
        pings++;
        if (reachable) {
            contact();
            return CompletableFuture.completedFuture(null);
        }
        return new CompletableFuture<>();
    }

    @Override
    public CompletionStage<LockInfo> inspect(String name) {
        inspections++;
        if (failingInspections > 0) {
            failingInspections--;
            return CompletableFuture.failedFuture(new IllegalStateException("no answer"));
        }
        return CompletableFuture.completedFuture(infos.getOrDefault(name, info));
    }

    @Override
    public CompletionStage<List<LockInfo>> list(String prefix) {
        return CompletableFuture.completedFuture(List.of());
    }

    @Override
    public String address() {
        return address;
    }

    @Override
    public CompletionStage<Boolean> forceRelease(String name) {
        return CompletableFuture.completedFuture(false);
    }

    @Override
    public CompletionStage<Boolean> forceRelease(String name, long token) {
        return CompletableFuture.completedFuture(false);
    }

    @Override
    public void close() {
        closed = true;
    }
}
