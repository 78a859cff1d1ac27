package dev.lockstep.internal.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.LeaderElection;
import dev.lockstep.LossReason;
import dev.lockstep.Term;
import dev.lockstep.internal.ScriptedBackend;
import dev.lockstep.internal.TurnstileFixture;
import dev.lockstep.logs.ThreadLogs;
import dev.lockstep.spi.VirtualScheduler;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How a term is lost, with a task that does not return when it is interrupted. */
@Timeout(60)
class ElectionTest {
    /** So long that nothing in this test ends because of it. */
    private static final Duration REQUEST_TIMEOUT = Duration.ofMinutes(10);

    private final VirtualScheduler time = new VirtualScheduler();
    private final ScriptedBackend engine = new ScriptedBackend(time);
    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch interrupted = new CountDownLatch(1);
    private final CountDownLatch mayReturn = new CountDownLatch(1);

    @AfterEach
    void endTask() {
        mayReturn.countDown();
    }

    private LeaderElection election(Executor executor) {
        Clients.Settings settings = new Clients.Settings(
                "test",
                Duration.ofSeconds(30),
                REQUEST_TIMEOUT,
                Duration.ofMillis(20),
                TurnstileFixture.MAX_BACKOFF,
                "client",
                null,
                List.of());
        Client client = new Client(context -> engine, settings, null, time, executor, "client", "id", () -> {});
        return client.election("e", this::lead);
    }

    private void lead(Term term) {
        begun.countDown();
        while (mayReturn.getCount() > 0) {
            try {
                mayReturn.await();
            } catch (InterruptedException e) {
                interrupted.countDown();
            }
        }
    }

    private static void await(CountDownLatch latch) throws InterruptedException {
        assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void closingAfterALossWaitsAsLongAsUsualForTheTaskAndLogsNoWarning() throws Exception {
        engine.answersAtOnce = true;
        LeaderElection election = election(Runnable::run);
        await(begun);
        engine.grant(0).signalLost(LossReason.REVOKED);
        await(interrupted);
        Queue<String> warnings = new ConcurrentLinkedQueue<>();
        Thread closing = new Thread(() -> {
            ThreadLogs.onWarning(warnings::add);
            election.close();
        });
        closing.start();
        Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> closing.getState() == Thread.State.TIMED_WAITING);
        time.advance(REQUEST_TIMEOUT.minusNanos(1));
        assertThat(closing.isAlive()).isTrue();
        time.advance(Duration.ofNanos(1));
        closing.join(TimeUnit.SECONDS.toMillis(20));
        assertThat(closing.isAlive()).isFalse();
        assertThat(warnings).isEmpty();
    }

    @Test
    void aBusyExecutorDoesNotDelayTheInterruptOfALostTerm() throws Exception {
        Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
        election(tasks::add);
        engine.claim(0).grant();
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            task.run();
        }
        await(begun);
        engine.grant(0).signalLost(LossReason.REVOKED);
        await(interrupted); // though the executor runs nothing more
    }
}
