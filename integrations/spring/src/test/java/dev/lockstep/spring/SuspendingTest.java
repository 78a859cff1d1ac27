package dev.lockstep.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;

/** Kotlin's suspend functions hold the lock until they complete, however often they suspend. */
@Timeout(60)
class SuspendingTest {
    private AnnotationConfigApplicationContext context;
    private LockClient locks;
    private SuspendingService service;

    @BeforeEach
    void start() {
        Awaitility.setDefaultTimeout(Duration.ofSeconds(20)); // a busy machine takes long
        context = Contexts.start(Contexts.OneClient.class, SuspendingService.class);
        locks = context.getBean(LockClient.class);
        service = context.getBean(SuspendingService.class);
    }

    @AfterEach
    void stop() {
        context.close();
    }

    private boolean isFree() {
        return locks.inspect("order:1").isFree();
    }

    @Test
    void theLockIsHeldUntilTheFunctionCompletes() throws Exception {
        CompletableFuture<String> gate = new CompletableFuture<>();
        CompletableFuture<String> first = SuspendingCalls.ship(service, "1", gate);
        await().atMost(Duration.ofSeconds(20)).until(() -> !isFree());
        CompletableFuture<String> second =
                SuspendingCalls.ship(service, "1", CompletableFuture.completedFuture("next"));
        assertThat(SuspendingCalls.ship(service, "2", CompletableFuture.completedFuture("other"))
                        .get())
                .isEqualTo("other held true");
        assertThat(second).isNotDone();
        gate.complete("done");
        assertThat(first.get()).isEqualTo("done held true");
        assertThat(second.get()).isEqualTo("next held true");
        await().atMost(Duration.ofSeconds(20)).until(this::isFree);
    }

    @Test
    void aCancelledOrFailedFunctionReleasesTheLock() {
        CompletableFuture<String> waiting = SuspendingCalls.ship(service, "1", new CompletableFuture<>());
        await().atMost(Duration.ofSeconds(20)).until(() -> !isFree());
        waiting.cancel(true);
        await().atMost(Duration.ofSeconds(20)).until(this::isFree);
        assertThatThrownBy(SuspendingCalls.fails(service, "1")::get).hasCauseInstanceOf(IOException.class);
        await().atMost(Duration.ofSeconds(20)).until(this::isFree);
    }

    @Test
    void aBusyLockIsSkippedOrAnsweredByAFunction() throws Exception {
        try (Lease other = locks.lock("order:1").acquire()) {
            assertThat(SuspendingCalls.skip(service, "1").get()).isNull();
            assertThat(SuspendingCalls.orElse(service, "1").get()).isEqualTo("busy 1");
            assertThat(other.isValid()).isTrue();
        }
        assertThat(SuspendingCalls.skip(service, "1").get()).isEqualTo("ran");
        assertThat(SuspendingCalls.orElse(service, "1").get()).isEqualTo("ran");
    }

    @Test
    void aFlowHoldsTheLockWhileItIsCollected() throws Exception {
        assertThat(SuspendingCalls.numbers(service, "1").get()).isEqualTo(List.of("0 held ", "1 held "));
        await().atMost(Duration.ofSeconds(20)).until(this::isFree);
    }
}
