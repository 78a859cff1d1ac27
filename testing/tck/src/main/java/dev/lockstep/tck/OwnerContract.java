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
    OwnerContract(LockContract contract) {
        super(contract);
    }

    private LockClient operator() {
        return bench().client("operator");
    }

    /** What the engine stores belongs to the claim, so it stays the same after a hand-off to another thread. */
    @Test
    void theOwnerOfAHoldIsShown() throws Exception {
        Instant before = Instant.now().minus(Duration.ofMinutes(10)); // the clocks may differ
        Actor first = actor("first thread");
        Lease lease = first.call(() -> lock().acquire());
        CompletableFuture<Lease> next = lock().acquireAsync();
        LockInfo.Entry shown = operator().inspect(NAME).holders().get(0);
        assertThat(shown.owner().threadName()).hasValue("first thread");
        assertThat(shown.owner().threadId()).isEmpty();
        assertThat(shown.owner().claimId()).isEqualTo(shown.claim());
        shown.owner()
                .clientId()
                .ifPresent(id -> assertThat(shown.claim().orElseThrow()).startsWith(id + "."));
        assertThat(shown.requested())
                .hasValueSatisfying(time -> assertThat(time).isAfter(before));
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
