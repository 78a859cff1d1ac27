package dev.lockstep.tck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockInfo;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** An operator sees which client and which thread a lock belongs to, and since when. */
abstract class OwnerContract extends ContractGroup {
    /** So long that half of it is seen by a clock that ticks in milliseconds. */
    private static final Duration LONG_WAIT = Duration.ofMillis(100);

    OwnerContract(LockContract contract) {
        super(contract);
    }

    private LockClient operator() {
        return bench().client("operator");
    }

    /** The stored owner belongs to the claim, so it stays the same after a hand-off to another thread. */
    @Test
    void theOwnerOfAHoldIsShown() throws Exception {
        Instant before = Instant.now().minus(Duration.ofMinutes(10)); // the clocks may differ
        Actor first = actor("first thread");
        Lease lease = first.call(() -> lock().acquire());
        CompletableFuture<Lease> next = lock().acquireAsync();
        LockInfo.Entry shown = operator().inspect(NAME).holders().get(0);
        assertThat(shown.owner().threadName()).hasValue("first thread");
        assertThat(shown.owner().threadId())
                .hasValue(first.call(() -> Thread.currentThread().getId()));
        assertThat(shown.owner().claimId()).isEqualTo(shown.claim());
        if (fixture().capabilities().contains(Capability.RECORDS_WAITS)) { // a cycle of waits is found by claims
            assertThat(shown.owner().clientId())
                    .hasValueSatisfying(
                            id -> assertThat(shown.claim().orElseThrow()).startsWith(id + "."));
        }
        assertThat(shown.requested())
                .hasValueSatisfying(time -> assertThat(time).isAfter(before));
        assertThat(shown.granted().isPresent())
                .isEqualTo(fixture().capabilities().contains(Capability.SHOWS_GRANTED));
        shown.granted()
                .ifPresent(
                        time -> assertThat(time).isBetween(before, Instant.now().plus(Duration.ofMinutes(10))));

        first.does(lease::close);
        try (Lease handedOff = next.get(20, TimeUnit.SECONDS)) {
            LockInfo.Entry held = operator().inspect(NAME).holders().get(0);
            assertThat(held.owner().clientId()).isEqualTo(shown.owner().clientId());
            if (held.token().equals(shown.token())) {
                assertThat(held.owner()).isEqualTo(shown.owner());
                assertThat(held.requested()).isEqualTo(shown.requested());
                assertThat(held.granted()).isEqualTo(shown.granted());
            }
            assertThat(handedOff.isValid()).isTrue();
        }
    }

    /** By the engine's clock, which also dated the grant before. */
    @Test
    @Requires({Capability.SHOWS_WAITERS, Capability.SHOWS_GRANTED})
    void aHolderThatWaitedIsShownWithTheTimeOfItsGrant() throws Exception {
        Lease first = rivalLock().acquire();
        Instant granted = operator().inspect(NAME).holders().get(0).granted().orElseThrow();
        CompletableFuture<Lease> next = lock().acquireAsync();
        bench().awaitWaiters(NAME, 1);
        LockInfo.Entry waiting = operator().inspect(NAME).waiters().get(0);
        assertThat(waiting.granted()).isEmpty();
        Bench.letPass(LONG_WAIT);
        first.close();
        try (Lease lease = next.get(20, TimeUnit.SECONDS)) {
            LockInfo.Entry held = operator().inspect(NAME).holders().get(0);
            assertThat(held.owner()).isEqualTo(waiting.owner());
            assertThat(held.granted())
                    .hasValueSatisfying(time -> assertThat(time).isAfter(granted.plus(LONG_WAIT.dividedBy(2))));
            assertThat(held.requested().orElseThrow())
                    .isAfterOrEqualTo(waiting.requested().orElseThrow());
            assertThat(lease.isValid()).isTrue();
        }
    }

    /** As most virtual threads. */
    @Test
    void aThreadWithoutANameIsShownByItsId() throws Exception {
        CompletableFuture<Lease> taken = new CompletableFuture<>();
        Thread nameless = new Thread(() -> taken.complete(lock().acquireAsync().join()), "");
        nameless.start();
        try (Lease lease = taken.get(20, TimeUnit.SECONDS)) {
            LockInfo.Entry shown = operator().inspect(NAME).holders().get(0);
            assertThat(shown.owner().threadName()).isEmpty();
            assertThat(shown.owner().threadId()).hasValue(nameless.getId());
            assertThat(lease.isValid()).isTrue();
        }
    }
}
