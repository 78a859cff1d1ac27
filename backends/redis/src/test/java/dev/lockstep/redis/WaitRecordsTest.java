package dev.lockstep.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.HolderInfo;
import dev.lockstep.LockClient;
import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
import dev.lockstep.LossReason;
import dev.lockstep.redis.redlock.RedlockProvider;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.BackendFactory;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.Grant;
import dev.lockstep.spi.GrantListener;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Outcome;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Operators see which claims hold and wait, and for which lock a holder waits. */
@Timeout(60)
class WaitRecordsTest extends OneServerTestCase {
    private static final LockInfo.Wait WAIT = LockInfo.Wait.of(
            "other {lock}\u00f6", LockMode.SHARED, "main (1)", Instant.parse("2026-01-02T03:04:05Z"), true);

    private static final GrantListener DEAF = new GrantListener() {
        @Override
        public void lost(Grant grant, LossReason reason) {}

        @Override
        public void wanted(Grant grant) {}
    };

    /** A claim that is made without the core. */
    private record Asked(
            LockBackend backend, long sentNanos, String claimId, LockMode mode, OptionalInt limit, int permits)
            implements ClaimRequest {
        @Override
        public String name() {
            return NAME;
        }

        @Override
        public boolean mayWait() {
            return true;
        }

        @Override
        public boolean mayBarge() {
            return false;
        }

        @Override
        public Duration blockAtMost() {
            return Bench.PATIENCE;
        }

        @Override
        public HolderInfo holder() {
            return HolderInfo.of("client", "host", 1).withThread("thread");
        }

        @Override
        public GrantListener listener() {
            return DEAF;
        }

        Grant granted() throws Exception {
            return ((Outcome.Granted) answer(backend.submit(this).outcome())).grant();
        }
    }

    private static <T> T answer(CompletionStage<T> stage) throws Exception {
        return stage.toCompletableFuture().get(20, TimeUnit.SECONDS);
    }

    private LockBackend backend;
    private BackendContext context;
    private int claims;

    private LockClient client(BackendFactory factory) {
        return LockClient.builder()
                .backend(own -> {
                    context = own;
                    backend = factory.open(own);
                    return backend;
                })
                .requestTimeout(Bench.PATIENCE)
                .connect();
    }

    private Asked claim(LockMode mode, OptionalInt limit, int permits) {
        String id = context.clientId() + "." + ++claims;
        return new Asked(backend, context.scheduler().nanoTime(), id, mode, limit, permits);
    }

    private static LockInfo.Entry holder(LockClient client, int index) {
        LockInfo info = client.inspect(NAME);
        assertThat(client.list("")).singleElement().satisfies(listed -> {
            assertThat(listed.holders())
                    .extracting(LockInfo.Entry::claim)
                    .isEqualTo(
                            info.holders().stream().map(LockInfo.Entry::claim).toList());
            assertThat(listed.holders())
                    .extracting(LockInfo.Entry::waitsFor)
                    .isEqualTo(info.holders().stream()
                            .map(LockInfo.Entry::waitsFor)
                            .toList());
        });
        return info.holders().get(index);
    }

    @Test
    void aWaitIsShownUntilItOrTheGrantEnds() throws Exception {
        try (LockClient client = client(of(bench().server().url()))) {
            checkWait(client, claim(LockMode.EXCLUSIVE, OptionalInt.empty(), 1));
            checkWait(client, claim(LockMode.SHARED, OptionalInt.empty(), 1));
            checkWait(client, claim(LockMode.SHARED, OptionalInt.of(3), 2));
        }
    }

    @Test
    void aWaitIsShownOnSeveralServersToo() throws Exception {
        try (Redlocks set = Redlocks.start(3);
                LockClient client = client(of(Redlocks.url(set.servers())))) {
            checkWait(client, claim(LockMode.EXCLUSIVE, OptionalInt.empty(), 1));
        }
    }

    private void checkWait(LockClient client, Asked asked) throws Exception {
        Grant grant = asked.granted();
        assertThat(holder(client, 0).claim()).hasValue(asked.claimId());
        assertThat(holder(client, 0).waitsFor()).isEmpty();
        assertThat(answer(grant.recordWait(Optional.of(WAIT)))).isTrue();
        assertThat(holder(client, 0).waitsFor()).hasValue(WAIT);
        assertThat(holder(client, 0).permits()).isEqualTo(asked.permits());
        assertThat(answer(grant.recordWait(Optional.empty()))).isTrue();
        assertThat(holder(client, 0).waitsFor()).isEmpty();
        assertThat(answer(grant.recordWait(Optional.of(WAIT)))).isTrue();
        assertThat(answer(grant.release(Bench.PATIENCE))).isTrue();
        assertThat(answer(grant.recordWait(Optional.of(WAIT)))).isFalse();
        Grant next = claim(asked.mode(), asked.limit(), asked.permits()).granted();
        assertThat(holder(client, 0).waitsFor()).isEmpty();
        assertThat(answer(next.release(Bench.PATIENCE))).isTrue();
    }

    @Test
    void aWaitStaysWithAGrantThatBecomesShared() throws Exception {
        try (LockClient client = client(of(bench().server().url()))) {
            Grant grant = claim(LockMode.EXCLUSIVE, OptionalInt.empty(), 1).granted();
            assertThat(answer(grant.recordWait(Optional.of(WAIT)))).isTrue();
            assertThat(answer(grant.downgrade())).isTrue();
            assertThat(holder(client, 0).waitsFor()).hasValue(WAIT);
            assertThat(answer(grant.release(Bench.PATIENCE))).isTrue();
        }
    }

    @Test
    void theClaimsOfWaitersAreShown() throws Exception {
        try (LockClient client = client(of(bench().server().url()))) {
            Grant grant = claim(LockMode.EXCLUSIVE, OptionalInt.empty(), 1).granted();
            Asked waiting = claim(LockMode.SHARED, OptionalInt.empty(), 1);
            var waiter = backend.submit(waiting);
            assertThat(client.inspect(NAME).waiters())
                    .extracting(entry -> entry.claim().orElseThrow())
                    .isEqualTo(List.of(waiting.claimId()));
            answer(waiter.withdraw(Bench.PATIENCE));
            assertThat(answer(grant.release(Bench.PATIENCE))).isTrue();
        }
    }

    @Test
    void theTextbooksLockShowsItsClaimButNoWait() throws Exception {
        try (LockClient client = client(of(bench().server().url() + "?queue=off"))) {
            Asked asked = claim(LockMode.EXCLUSIVE, OptionalInt.empty(), 1);
            Grant grant = asked.granted();
            assertThat(answer(grant.recordWait(Optional.of(WAIT)))).isFalse();
            assertThat(holder(client, 0).claim()).hasValue(asked.claimId());
            assertThat(answer(grant.release(Bench.PATIENCE))).isTrue();
        }
    }

    private static BackendFactory of(String url) {
        return (url.startsWith("redlock") ? new RedlockProvider() : new RedisProvider()).parse(url);
    }
}
