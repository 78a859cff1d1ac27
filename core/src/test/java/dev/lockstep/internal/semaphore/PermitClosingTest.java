package dev.lockstep.internal.semaphore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.LockOptions;
import dev.lockstep.spi.VirtualScheduler;
import java.lang.reflect.Proxy;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** A client that closes waits for what the engine may know of, and for nothing else. */
class PermitClosingTest {
    /** The close may have seen it between its first step and its refusal. */
    @Test
    void aCallThatTheClosedClientRefusesIsNotWaitedFor() {
        Semaphores semaphores = new Semaphores(closedHost());
        PermitTerms terms = new PermitTerms("s", 1, 1, LockOptions.defaults(), PermitTerms.NO_LIMIT, true);
        PermitCall late = new PermitCall(semaphores, terms);
        semaphores.close();
        assertThatThrownBy(late::start).isInstanceOf(IllegalStateException.class);
        late.closeWaiting();
        assertThat(late.closeHeld()).isDone();
    }

    private static SemaphoreHost closedHost() {
        VirtualScheduler time = new VirtualScheduler();
        return (SemaphoreHost) Proxy.newProxyInstance(
                SemaphoreHost.class.getClassLoader(),
                new Class<?>[] {SemaphoreHost.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "ensureOpen" -> throw new IllegalStateException("closed");
                    case "scheduler" -> time;
                    case "requestTimeout" -> Duration.ofSeconds(5);
                    case "claimId" -> "id";
                    default -> null;
                });
    }
}
