package dev.lockstep.cli;

import dev.lockstep.LockInfo;
import dev.lockstep.spi.AbstractGrant;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.BackendFactory;
import dev.lockstep.spi.BackendProvider;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Outcome;
import dev.lockstep.spi.Traits;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * Serves {@code broken:}, an engine that grants all claims of any process at the same moments: what a demo must find out.
 * So processes that have work meet again and again, however the machine schedules them.
 */
public final class BrokenProvider implements BackendProvider {
    @Override
    public Set<String> schemes() {
        return Set.of("broken");
    }

    @Override
    public BackendFactory parse(String url) {
        return BrokenBackend::new;
    }

    private static final class BrokenBackend implements LockBackend {
        private static final long MILLIS_BETWEEN_GRANTS = 20;

        private final BackendContext context;

        BrokenBackend(BackendContext context) {
            this.context = context;
        }

        @Override
        public Traits traits() {
            // A client that does not learn that others want a grant releases it after 10 ms: none can keep them all.
            return Traits.of(Duration.ofMillis(1))
                    .withPush(true)
                    .withShared(true)
                    .withFair(true);
        }

        @Override
        public Claim submit(ClaimRequest request) {
            long now = System.currentTimeMillis();
            long token = now / MILLIS_BETWEEN_GRANTS + 1;
            Executor atNextMoment =
                    CompletableFuture.delayedExecutor(token * MILLIS_BETWEEN_GRANTS - now, TimeUnit.MILLISECONDS);
            long validUntil = request.sentNanos() + Duration.ofHours(1).toNanos();
            Outcome granted = new Outcome.Granted(new AbstractGrant(request.listener(), token, validUntil) {
                @Override
                public CompletionStage<Boolean> release(Duration blockAtMost) {
                    return CompletableFuture.completedFuture(true);
                }
            });
            CompletionStage<Outcome> outcome = CompletableFuture.supplyAsync(() -> granted, atNextMoment);
            return new Claim() {
                @Override
                public CompletionStage<Outcome> outcome() {
                    return outcome;
                }

                @Override
                public boolean mustWait() {
                    return false;
                }

                @Override
                public CompletionStage<Void> withdraw(Duration blockAtMost) {
                    return CompletableFuture.completedFuture(null);
                }
            };
        }

        @Override
        public long lastContactNanos() {
            return context.scheduler().nanoTime();
        }

        @Override
        public CompletionStage<Void> ping() {
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public CompletionStage<LockInfo> inspect(String name) {
            return CompletableFuture.completedFuture(LockInfo.free(name));
        }

        @Override
        public CompletionStage<List<LockInfo>> list(String prefix) {
            return CompletableFuture.completedFuture(List.of());
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
        public void close() {}
    }
}
