package dev.lockstep.internal.concurrent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.DistributedSemaphore;
import dev.lockstep.LeaderElection;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockOptions;
import dev.lockstep.Permit;
import dev.lockstep.internal.TurnstileFixture;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.MDC;

/** The logging context (MDC) of a thread also applies to the callbacks that it registers. */
class CallerContextTest {
    private final LockClient client = LockClient.connect("memory:");

    @AfterEach
    void close() {
        MDC.clear();
        client.close();
    }

    private static String context() {
        return Thread.currentThread().getName().startsWith("lockstep-callback")
                ? String.valueOf(MDC.get("request"))
                : "in the wrong thread: " + Thread.currentThread().getName();
    }

    @Test
    void ofAnAsynchronousCall() throws Exception {
        Lease held = client.lock("a").acquireAsync().get();
        MDC.put("request", "42");
        CompletableFuture<Lease> next = client.lock("a").acquireAsync();
        CompletableFuture<String> seen = next.thenApply(lease -> context());
        MDC.put("request", "43");
        held.close();
        assertThat(seen.get(20, TimeUnit.SECONDS)).isEqualTo("42");
        assertThat(MDC.get("request")).isEqualTo("43");
        next.get().close();
    }

    @Test
    void ofAnAsynchronousCallForSeveralLocksThatWaitsForOne() {
        TurnstileFixture fixture = new TurnstileFixture();
        fixture.engine.batchSize = 2;
        MDC.put("request", "42");
        CompletableFuture<String> seen =
                fixture.client.multiLock("a", "b").acquireAsync().thenApply(lease -> MDC.get("request"));
        MDC.put("request", "43");
        fixture.engine.claim(0).busy();
        fixture.engine.claim(1).grant().released.complete(true); // it waits for the first and holds none behind it
        fixture.engine.claim(2).grant();
        fixture.engine.claim(3).grant();
        assertThat(seen).isCompletedWithValue("42");
        assertThat(MDC.get("request")).isEqualTo("43");
    }

    @Test
    void ofAnAsynchronousCallForSeveralLocksThatDoesNotGetAll() {
        TurnstileFixture fixture = new TurnstileFixture();
        fixture.engine.batchSize = 2;
        MDC.put("request", "42");
        CompletableFuture<String> seen = fixture.client
                .multiLock("a", "b")
                .tryAcquireAsync(Duration.ZERO)
                .thenApply(leases -> MDC.get("request"));
        MDC.put("request", "43");
        fixture.engine.claim(0).grant();
        fixture.engine.claim(1).busy();
        fixture.engine.claim(2).busy();
        fixture.engine.grant(0).released.complete(true);
        assertThat(seen).isCompletedWithValue("42");
        assertThat(MDC.get("request")).isEqualTo("43");
    }

    @Test
    void ofAnAsynchronousRelease() {
        TurnstileFixture fixture = new TurnstileFixture();
        CompletableFuture<Lease> acquiring = fixture.lock.acquireAsync();
        fixture.engine.claims.get(0).grant();
        Lease lease = TurnstileFixture.get(acquiring);
        MDC.put("request", "42");
        CompletableFuture<String> seen = lease.closeAsync().thenApply(done -> MDC.get("request"));
        MDC.put("request", "43");
        fixture.engine.grant(0).released.complete(true);
        assertThat(seen).isCompletedWithValue("42");
        assertThat(MDC.get("request")).isEqualTo("43");
    }

    /** The context of a template's work if it has to wait, so that the client's executor runs it. */
    private String seenByWork() throws Exception {
        Lease held = client.lock("a").acquireAsync().get();
        CompletableFuture<String> seen =
                client.template().executeAsync("a", lease -> CompletableFuture.completedFuture(context()));
        held.close();
        return seen.get(20, TimeUnit.SECONDS);
    }

    @Test
    void ofTheWorkOfATemplate() throws Exception {
        MDC.put("request", "42");
        assertThat(seenByWork()).isEqualTo("42");
    }

    @Test
    void ofALossAction() throws Exception {
        MDC.put("request", "42");
        CompletableFuture<String> seen = new CompletableFuture<>();
        Lease lease = client.lock("a", LockOptions.defaults().maxHold(Duration.ofMillis(20)))
                .acquire();
        lease.onLost(reason -> seen.complete(context()));
        MDC.clear();
        assertThat(seen.get(20, TimeUnit.SECONDS)).isEqualTo("42");
    }

    @Test
    void ofAnAsynchronousCallForAPermit() throws Exception {
        DistributedSemaphore semaphore = client.semaphore("s", 1);
        Permit held = semaphore.acquire();
        MDC.put("request", "42");
        CompletableFuture<Permit> next = semaphore.acquireAsync();
        CompletableFuture<String> seen = next.thenApply(permit -> context());
        MDC.put("request", "43");
        held.close();
        assertThat(seen.get(5, TimeUnit.SECONDS)).isEqualTo("42");
        next.get().close();
    }

    @Test
    void ofALossActionOfAPermit() throws Exception {
        MDC.put("request", "42");
        CompletableFuture<String> seen = new CompletableFuture<>();
        Permit permit = client.semaphore("s", 1, LockOptions.defaults().maxHold(Duration.ofMillis(20)))
                .acquire();
        permit.onLost(reason -> seen.complete(context()));
        MDC.clear();
        assertThat(seen.get(5, TimeUnit.SECONDS)).isEqualTo("42");
        Reference.reachabilityFence(permit);
    }

    @Test
    void ofAnElection() throws Exception {
        CompletableFuture<String> inTask = new CompletableFuture<>();
        CompletableFuture<String> inListener = new CompletableFuture<>();
        MDC.put("request", "42");
        try (LeaderElection election = client.election("e", term -> inTask.complete(MDC.get("request")))) {
            MDC.put("request", "43");
            election.onChange(leader -> inListener.complete(context()));
            MDC.clear();
            assertThat(inTask.get(5, TimeUnit.SECONDS)).isEqualTo("42");
            assertThat(inListener.get(5, TimeUnit.SECONDS)).isEqualTo("43");
        }
    }

    @Test
    void threadsOfTheClientKeepNothing() throws Exception {
        MDC.put("request", "42");
        assertThat(seenByWork()).isEqualTo("42");
        MDC.clear();
        for (int i = 0; i < 10; i++) {
            assertThat(seenByWork()).isEqualTo("null");
        }
    }
}
