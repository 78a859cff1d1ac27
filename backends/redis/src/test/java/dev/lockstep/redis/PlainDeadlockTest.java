package dev.lockstep.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.DeadlockException;
import dev.lockstep.DeadlockPolicy;
import dev.lockstep.LockClient;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Without a queue, Redis stores no waits: a client sees the deadlocks of its own threads alone. */
@Timeout(60)
class PlainDeadlockTest extends OneServerTestCase {
    private final String url = bench().server().url() + "?queue=off";

    private LockClient client() {
        return LockClient.builder()
                .url(url)
                .requestTimeout(Bench.PATIENCE)
                .deadlocks(DeadlockPolicy.FAIL)
                .recordWaitsAfter(Duration.ofMillis(100))
                .connect();
    }

    /** A thread that holds one lock, and then waits for another one. */
    private static CompletableFuture<Void> wants(LockClient client, String held, String wanted, CountDownLatch both) {
        CompletableFuture<Void> end = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            client.lock(held).lock();
            try {
                both.countDown();
                both.await();
                client.lock(wanted).lockInterruptibly();
                client.lock(wanted).unlock();
                end.complete(null);
            } catch (InterruptedException | RuntimeException e) {
                end.completeExceptionally(e);
            } finally {
                client.lock(held).unlock();
            }
        });
        thread.setDaemon(true);
        thread.start();
        end.whenComplete((nothing, failure) -> {
            if (end.isCancelled()) {
                thread.interrupt();
            }
        });
        return end;
    }

    @Test
    void aDeadlockOfThreadsOfOneClientIsFound() {
        try (LockClient client = client()) {
            CountDownLatch both = new CountDownLatch(2);
            CompletableFuture<Void> one = wants(client, "one", "two", both);
            CompletableFuture<Void> two = wants(client, "two", "one", both);
            assertThatThrownBy(() -> CompletableFuture.allOf(one, two).get(20, TimeUnit.SECONDS))
                    .isInstanceOf(ExecutionException.class)
                    .hasCauseInstanceOf(DeadlockException.class);
            assertThat(one.isCompletedExceptionally() && two.isCompletedExceptionally())
                    .as("the other one goes on")
                    .isFalse();
        }
    }

    @Test
    void aDeadlockOfTwoClientsIsNotSeen() throws Exception {
        try (LockClient first = client();
                LockClient second = client()) {
            CountDownLatch both = new CountDownLatch(2);
            CompletableFuture<Void> one = wants(first, "one", "two", both);
            CompletableFuture<Void> two = wants(second, "two", "one", both);
            both.await();
            TimeUnit.MILLISECONDS.sleep(500); // several looks
            assertThat(first.waitGraph().edges()).isEmpty();
            assertThat(one.isDone() || two.isDone()).isFalse();
            one.cancel(true);
            two.get(20, TimeUnit.SECONDS);
        }
    }
}
