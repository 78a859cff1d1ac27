package dev.lockstep.internal.concurrent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockOptions;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.MDC;

/** What a thread's logging context (MDC) says, call-backs that it registers log, too. */
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
        assertThat(seen.get(5, TimeUnit.SECONDS)).isEqualTo("42");
        assertThat(MDC.get("request")).isEqualTo("43");
        next.get().close();
    }

    /** What the work of a template sees, if it has to wait, so that the client's executor runs it. */
    private String seenByWork() throws Exception {
        Lease held = client.lock("a").acquireAsync().get();
        CompletableFuture<String> seen =
                client.template().executeAsync("a", lease -> CompletableFuture.completedFuture(context()));
        held.close();
        return seen.get(5, TimeUnit.SECONDS);
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
        assertThat(seen.get(5, TimeUnit.SECONDS)).isEqualTo("42");
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
