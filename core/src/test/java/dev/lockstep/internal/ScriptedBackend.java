package dev.lockstep.internal;

import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
import dev.lockstep.spi.AbstractGrant;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Outcome;
import dev.lockstep.spi.Scheduler;
import dev.lockstep.spi.Traits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** An engine whose every answer the test gives itself, unless it asks for answers at once. */
final class ScriptedBackend implements LockBackend {
    static final Duration VALIDITY = Duration.ofSeconds(30);

    final Scheduler scheduler;
    final List<ScriptedClaim> claims = new ArrayList<>();
    final List<ScriptedGrant> grants = new ArrayList<>();
    boolean answersAtOnce;
    boolean refuses;

    /** Whether what the engine answers says nothing of the claims. */
    boolean answersOthers;

    /** What happens while a claim is being submitted, after its grant if that comes at once. */
    Runnable meanwhile = () -> {};

    /** What happens while a grant is being released. */
    Runnable whileReleasing = () -> {};

    boolean tellsWanted = true;
    boolean downgrades = true;
    boolean reachable = true;
    boolean closed;
    String address = "";
    int pings;
    LockInfo info = LockInfo.free("a");
    long contact;
    private long token = 100;

    ScriptedBackend(Scheduler scheduler) {
        this.scheduler = scheduler;
        this.contact = scheduler.nanoTime();
    }

    final class ScriptedClaim implements Claim {
        final ClaimRequest request;
        final LockMode mode;
        final CompletableFuture<Outcome> outcome = new CompletableFuture<>();
        final CompletableFuture<Void> withdrawn = new CompletableFuture<>();
        int withdrawals;

        ScriptedClaim(ClaimRequest request) {
            this.request = request;
            this.mode = request.mode();
        }

        ScriptedGrant grant() {
            return grantAsOf(scheduler.nanoTime());
        }

        /** Grants with an answer to something sent at a time. */
        ScriptedGrant grantAsOf(long sentNanos) {
            ScriptedGrant grant = new ScriptedGrant(request, sentNanos);
            grants.add(grant);
            contact();
            outcome.complete(new Outcome.Granted(grant));
            return grant;
        }

        void busy() {
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

    final class ScriptedGrant extends AbstractGrant {
        final CompletableFuture<Boolean> released = new CompletableFuture<>();
        final CompletableFuture<Boolean> downgraded = new CompletableFuture<>();
        int releases;
        int downgradeCalls;

        ScriptedGrant(ClaimRequest request, long sentNanos) {
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

    void contact() {
        contact = scheduler.nanoTime();
    }

    ScriptedClaim claim(int index) {
        return claims.get(index);
    }

    ScriptedGrant grant(int index) {
        return grants.get(index);
    }

    @Override
    public Traits traits() {
        return new Traits(true, tellsWanted, true, true, Duration.ofMillis(10));
    }

    @Override
    public Claim submit(ClaimRequest request) {
        if (refuses) {
            throw new IllegalStateException("refused");
        }
        ScriptedClaim claim = new ScriptedClaim(request);
        claims.add(claim);
        if (answersAtOnce) {
            claim.grant();
        }
        meanwhile.run();
        return claim;
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
        return CompletableFuture.completedFuture(info);
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
