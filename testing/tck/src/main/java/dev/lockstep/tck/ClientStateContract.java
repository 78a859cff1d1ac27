package dev.lockstep.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.ClientSnapshot;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockObserver;
import dev.lockstep.LockObserver.CallKind;
import dev.lockstep.LockObserver.CallOutcome;
import dev.lockstep.LockObserver.HoldOutcome;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.Permit;
import dev.lockstep.ReleaseNotConfirmedException;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A client's information about itself, its holds and its calls. */
abstract class ClientStateContract extends ContractGroup {
    private final Queue<Enum<?>> seen = new ConcurrentLinkedQueue<>();

    ClientStateContract(LockContract contract) {
        super(contract);
    }

    /** Notes kinds of calls, and how calls and holds end. */
    private final class Notes implements LockObserver {
        @Override
        public CallObserver callStarted(Call call) {
            seen.add(call.kind());
            return new CallObserver() {
                @Override
                public void callEnded(CallEnd end) {
                    seen.add(end.outcome());
                }

                @Override
                public void holdEnded(HoldEnd end) {
                    seen.add(end.outcome());
                }
            };
        }
    }

    @Test
    void aClientReachesItsEngine() {
        assertThat(client().ping()).isGreaterThanOrEqualTo(Duration.ZERO);
        assertThat(client().isClosed()).isFalse();
        assertThat(client().inFallback()).isFalse();
    }

    @Test
    @Requires(Capability.BREAK_CONNECTION)
    void aClientThatIsCutOffSaysSo() {
        LockClient cutOff = openImpatient("cut-off");
        fixture().breakConnection(cutOff);
        assertThatThrownBy(cutOff::ping).isInstanceOf(LockUnavailableException.class);
        assertThat(cutOff.isClosed()).isFalse();
        fixture().healConnection(cutOff);
        Bench.await("the engine answers", () -> answers(cutOff));
    }

    private static boolean answers(LockClient client) {
        try {
            client.ping();
            return true;
        } catch (LockUnavailableException e) {
            return false;
        }
    }

    @Test
    void theHoldOfAThreadHasALease() {
        assertThat(lock().currentLease()).isEmpty();
        lock().lock();
        Lease shown = lock().currentLease().orElseThrow();
        assertThat(shown.isValid()).isTrue();
        assertThat(shown.token()).isPositive();
        lock().unlock();
        assertThat(shown.isValid()).isFalse();
        assertThat(lock().currentLease()).isEmpty();
    }

    @Test
    void aSnapshotShowsHoldsAndWaiters() throws Exception {
        lock().lock();
        CompletableFuture<Lease> waiting = lock().acquireAsync();
        ClientSnapshot snapshot = client().snapshot();
        assertThat(snapshot.holds()).singleElement().satisfies(use -> {
            assertThat(use.lockName()).isEqualTo(NAME);
            assertThat(use.threadId()).hasValue(Thread.currentThread().getId());
        });
        assertThat(snapshot.waiters()).singleElement().satisfies(use -> {
            assertThat(use.lockName()).isEqualTo(NAME);
            assertThat(use.threadName()).isEmpty();
        });
        lock().unlock();
        try (Lease next = waiting.get(20, TimeUnit.SECONDS)) {
            assertThat(client().snapshot().holds()).hasSize(1);
            assertThat(client().snapshot().waiters()).isEmpty();
            assertThat(next.isValid()).isTrue();
        }
        assertThat(client().snapshot().holds()).isEmpty();
    }

    @Test
    @Requires(Capability.LIMITS)
    void observersSeeWhatACallIsFor() throws Exception {
        LockClient observed = open(builder -> builder.clientName("observed").observer(new Notes()));
        observed.lock(NAME).acquire().close();
        try (Permit permit = observed.semaphore("permits", 2).acquire()) {
            assertThat(permit.isValid()).isTrue();
        }
        assertThat(seen).contains(CallKind.LOCK, CallKind.PERMIT).doesNotContain(CallKind.TERM);
        CompletableFuture<Boolean> led = new CompletableFuture<>();
        try (var election = observed.election("election", "me", term -> led.complete(true))) {
            assertThat(led.get(20, TimeUnit.SECONDS)).isTrue();
            assertThat(election).isNotNull();
        }
        assertThat(seen).contains(CallKind.TERM);
    }

    @Test
    @Requires(Capability.BREAK_CONNECTION)
    void observersSeeAnOutage() throws Exception {
        LockClient cutOff = openGivingUpSoon(builder -> builder.clientName("cut-off")
                .requestTimeout(shortRequestTimeout())
                .retryBackoff(Duration.ofMillis(10), Duration.ofMillis(50))
                .observer(new Notes()));
        takePatiently(cutOff.lock(NAME));
        fixture().breakConnection(cutOff);
        assertThatThrownBy(cutOff.lock(NAME)::unlock).isInstanceOf(ReleaseNotConfirmedException.class);
        assertThat(seen).contains(HoldOutcome.UNCONFIRMED).doesNotContain(HoldOutcome.RELEASED);
        assertThatThrownBy(cutOff.lock("another")::lock).isInstanceOf(LockUnavailableException.class);
        assertThat(seen).contains(CallOutcome.UNAVAILABLE);
        fixture().healConnection(cutOff);
        bench().awaitFree(NAME);
    }
}
