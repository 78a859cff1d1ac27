package dev.lockstep.internal.fallback;

import static dev.lockstep.internal.fallback.FallbackFixture.AFTER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.Lease;
import dev.lockstep.LockOptions;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.internal.ScriptedBackend;
import dev.lockstep.internal.events.EventLog;
import dev.lockstep.internal.events.Events;
import dev.lockstep.internal.events.Observers;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.Contexts;
import dev.lockstep.spi.LockBackend;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** The end of a client with a fallback, in every mode; and of claims that nobody took. */
class FallbackCloseTest {
    private static final LockOptions FAIR = LockOptions.defaults().fair();

    private final FallbackFixture bench = new FallbackFixture();
    private final ScriptedBackend primary = bench.primary;
    private final ScriptedBackend fallback = bench.fallback;

    private void closesBoth() {
        primary.answersAtOnce = true;
        fallback.answersAtOnce = true;
        bench.client.close();
        assertThat(primary.closed).isTrue();
        assertThat(fallback.closed).isTrue();
        int idle = bench.time.pending();
        bench.time.advance(Duration.ofHours(1));
        assertThat(bench.time.pending()).isLessThanOrEqualTo(idle);
        assertThat(bench.time.pending()).isZero();
    }

    @Test
    void withoutFallback() {
        closesBoth();
    }

    @Test
    void inSilence() {
        primary.reachable = false;
        CompletableFuture<Lease> waiting = bench.lock.acquireAsync();
        bench.time.advance(Duration.ofSeconds(1));
        closesBoth();
        assertThatThrownBy(waiting::join).hasCauseInstanceOf(LockUnavailableException.class);
        assertThat(primary.claim(0).withdrawals).isEqualTo(1);
    }

    @Test
    void inFallback() {
        Lease held = bench.enterHolding();
        closesBoth();
        assertThat(held.isValid()).isFalse();
        assertThat(fallback.grant(0).releases).isEqualTo(1);
    }

    @Test
    void whileHoldsDrain() {
        primary.reachable = false;
        bench.client.lock("a", FAIR).acquireAsync();
        CompletableFuture<Lease> second = bench.client.lock("a", FAIR).acquireAsync();
        bench.time.advance(AFTER);
        fallback.claim(0).grant();
        bench.heal();
        closesBoth();
        assertThatThrownBy(second::join).hasCauseInstanceOf(LockUnavailableException.class);
    }

    /** The backend alone, without a core, and a request for it. */
    private LockBackend open() {
        BackendContext context = Contexts.of("bare", bench.time);
        return FallbackBackend.open(
                unused -> primary,
                new FallbackPlan(unused -> fallback, AFTER),
                context,
                new Events(
                        List.of(),
                        Observers.NONE,
                        new EventLog("client", "", bench.time),
                        Runnable::run,
                        System::nanoTime),
                false);
    }

    private static ClaimRequest request() {
        FallbackFixture elsewhere = new FallbackFixture();
        elsewhere.lock.acquireAsync();
        return elsewhere.primary.claim(0).request;
    }

    @Test
    void aGrantThatNoCallTookBlocksNoOtherCall() {
        ClaimRequest request = request();
        LockBackend bare = open();
        Claim first = bare.submit(request);
        primary.claim(0).grant();
        assertThat(first.outcome().toCompletableFuture()).isDone();
        primary.reachable = false;
        first.withdraw(LockBackend.DO_NOT_BLOCK);
        bare.submit(request);
        bench.time.advance(AFTER);
        assertThat(fallback.claims).hasSize(1);
        bare.close();
    }

    @Test
    void aClaimAfterTheEndFails() {
        ClaimRequest request = request();
        LockBackend bare = open();
        bare.close();
        bare.close();
        CompletableFuture<?> outcome = bare.submit(request).outcome().toCompletableFuture();
        assertThatThrownBy(outcome::join).hasCauseInstanceOf(LockUnavailableException.class);
    }
}
