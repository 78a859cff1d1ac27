package dev.lockstep.internal.sim;

import dev.lockstep.LockInfo;
import dev.lockstep.spi.AbstractGrant;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Outcome;
import dev.lockstep.spi.Traits;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * An engine with one exclusive lock for real threads. Its calls park the calling thread now and then, as a connection pool
 * may: that uses up a wake-up that comes meanwhile. It answers inside the call or in another thread, by chance.
 */
final class SlowEngine implements LockBackend {
    private static final long LONGEST_NANOS = 200_000;

    private final Executor threads;
    private final Deque<SlowClaim> queue = new ArrayDeque<>(); // guarded by this
    private @Nullable SlowClaim holder; // guarded by this
    private long token; // guarded by this

    SlowEngine(Executor threads) {
        this.threads = threads;
    }

    private static void takeAWhile() {
        if (ThreadLocalRandom.current().nextInt(100) < 80) {
            LockSupport.parkNanos(1 + ThreadLocalRandom.current().nextLong(LONGEST_NANOS));
        }
    }

    private void answer(Runnable answer) {
        if (ThreadLocalRandom.current().nextBoolean()) {
            answer.run();
        } else {
            threads.execute(answer);
        }
    }

    private final class SlowClaim implements Claim {
        private final ClaimRequest request;
        private final CompletableFuture<Outcome> outcome = new CompletableFuture<>();
        private volatile boolean mustWait;

        SlowClaim(ClaimRequest request) {
            this.request = request;
        }

        @Override
        public CompletionStage<Outcome> outcome() {
            return outcome;
        }

        @Override
        public boolean mustWait() {
            return mustWait;
        }

        @Override
        public CompletionStage<Void> withdraw(Duration blockAtMost) {
            takeAWhile();
            leave(this);
            CompletableFuture<Void> withdrawn = new CompletableFuture<>();
            answer(() -> withdrawn.complete(null));
            return withdrawn;
        }
    }

    private final class SlowGrant extends AbstractGrant {
        private final SlowClaim claim;

        SlowGrant(SlowClaim claim, long token) {
            super(
                    claim.request.listener(),
                    token,
                    claim.request.sentNanos() + Duration.ofHours(1).toNanos());
            this.claim = claim;
        }

        @Override
        public CompletionStage<Boolean> release(Duration blockAtMost) {
            takeAWhile();
            leave(claim);
            CompletableFuture<Boolean> released = new CompletableFuture<>();
            answer(() -> released.complete(true));
            return released;
        }
    }

    @Override
    public Traits traits() {
        return Traits.of(Duration.ofMillis(10)).withPush(true);
    }

    @Override
    public Claim submit(ClaimRequest request) {
        SlowClaim claim = new SlowClaim(request);
        takeAWhile();
        Outcome outcome = arrive(claim);
        if (outcome != null) {
            answer(() -> claim.outcome.complete(outcome));
        }
        takeAWhile();
        return claim;
    }

    /** The answer; null if the claim waits. */
    private synchronized @Nullable Outcome arrive(SlowClaim claim) {
        if (holder == null) {
            return grant(claim);
        }
        if (claim.request.mayWait()) {
            queue.add(claim);
            claim.mustWait = true;
            return null;
        }
        return Outcome.Busy.INSTANCE;
    }

    private synchronized Outcome grant(SlowClaim claim) {
        holder = claim;
        return new Outcome.Granted(new SlowGrant(claim, ++token));
    }

    private void leave(SlowClaim claim) {
        SlowClaim next;
        Outcome granted;
        synchronized (this) {
            queue.remove(claim);
            if (holder != claim) {
                return;
            }
            holder = null;
            next = queue.poll();
            if (next == null) {
                return;
            }
            granted = grant(next);
        }
        answer(() -> next.outcome.complete(granted));
    }

    @Override
    public long lastContactNanos() {
        return System.nanoTime();
    }

    @Override
    public CompletionStage<Void> ping() {
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public CompletionStage<LockInfo> inspect(String name) {
        throw new UnsupportedOperationException();
    }

    @Override
    public CompletionStage<List<LockInfo>> list(String prefix) {
        throw new UnsupportedOperationException();
    }

    @Override
    public CompletionStage<Boolean> forceRelease(String name) {
        throw new UnsupportedOperationException();
    }

    @Override
    public CompletionStage<Boolean> forceRelease(String name, long token) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void close() {}
}
