package dev.lockstep.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class AnswersTest {
    private final VirtualScheduler time = new VirtualScheduler();
    private final BackendContext context = Contexts.of("client", time);
    private final CompletableFuture<String> answer = new CompletableFuture<>();

    @Test
    void aGoodAndABadAnswerAreAnswers() {
        assertThat(Answers.await(CompletableFuture.completedFuture(1), Duration.ZERO))
                .isTrue();
        assertThat(Answers.await(CompletableFuture.failedFuture(new IllegalStateException()), Duration.ZERO))
                .isTrue();
        assertThat(Answers.await(answer, Duration.ofMillis(1))).isFalse();
    }

    @Test
    void anInterruptDoesNotEndTheWaitAndStays() {
        Thread.currentThread().interrupt();
        CompletableFuture.delayedExecutor(20, TimeUnit.MILLISECONDS).execute(() -> answer.complete("there"));
        assertThat(Answers.await(answer, Duration.ofSeconds(30))).isTrue();
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void aCancellationEndsTheWait() {
        CompletableFuture.delayedExecutor(20, TimeUnit.MILLISECONDS).execute(() -> answer.cancel(false));
        assertThat(Answers.await(answer, Duration.ofSeconds(30))).isTrue();
    }

    @Test
    void anAnswerThatIsLateFails() {
        Answers.within(context, answer, () -> new IllegalStateException("late"));
        time.advance(Contexts.REQUEST_TIMEOUT);
        assertThatThrownBy(answer::join).hasRootCauseMessage("late");
    }

    @Test
    void anAnswerInTimeStays() {
        Answers.within(context, answer, () -> new IllegalStateException("late"));
        answer.complete("there");
        time.advance(Contexts.REQUEST_TIMEOUT);
        assertThat(answer).isCompletedWithValue("there");
    }
}
