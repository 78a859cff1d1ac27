package dev.lockstep.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How long the caller's thread waits for its own round trip. */
@Timeout(60)
class InlineTest {
    private static final Duration LONG = Duration.ofMinutes(5);

    @Test
    void waitEndsWithTheAnswer() {
        CompletableFuture<String> answer = new CompletableFuture<>();
        CompletableFuture.delayedExecutor(50, TimeUnit.MILLISECONDS).execute(() -> answer.complete("yes"));

        Inline.await(answer, LONG);

        assertThat(answer).isCompletedWithValue("yes");
    }

    @Test
    void aFailureStaysInTheAnswerForItsReader() {
        CompletableFuture<String> answer = new CompletableFuture<>();
        CompletableFuture.delayedExecutor(50, TimeUnit.MILLISECONDS)
                .execute(() -> answer.completeExceptionally(new IllegalStateException()));

        Inline.await(answer, LONG);

        assertThat(answer).isCompletedExceptionally();
    }

    @Test
    void waitIsBounded() {
        CompletableFuture<String> never = new CompletableFuture<>();
        long start = System.nanoTime();

        Inline.await(never, Duration.ofMillis(30));

        assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(Duration.ofMillis(30));
        assertThat(never).isNotDone();
    }

    @Test
    void aCallerThatMayNotBlockDoesNot() {
        CompletableFuture<String> never = new CompletableFuture<>();

        Inline.await(never, Duration.ZERO);
        Inline.await(never, Duration.ofNanos(-1));

        assertThat(never).isNotDone();
    }

    @Test
    void interruptEndsTheWaitAndStays() {
        CompletableFuture<String> never = new CompletableFuture<>();
        Thread.currentThread().interrupt();

        Inline.await(never, LONG);

        assertThat(Thread.interrupted()).isTrue();
        assertThat(never).isNotDone();
    }
}
