package dev.lockstep.internal.concurrent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.internal.time.SystemScheduler;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class CallbackExecutorTest {
    private final SystemScheduler scheduler = new SystemScheduler("test");
    private final CallbackExecutor executor = new CallbackExecutor("test", scheduler);

    @AfterEach
    void close() {
        executor.close();
        scheduler.close();
    }

    @Test
    void aBurstNeedsFewThreads() throws Exception {
        Set<Thread> threads = ConcurrentHashMap.newKeySet();
        CountDownLatch done = new CountDownLatch(10_000);
        for (int i = 0; i < 10_000; i++) {
            executor.execute(() -> {
                threads.add(Thread.currentThread());
                done.countDown();
            });
        }
        done.await();
        // Some more than the few if the machine was so busy that it looked like a stall.
        assertThat(threads).hasSizeLessThan(20);
    }

    @Test
    void aTaskThatComesAfterTheCloseRunsOnAThreadThatEndsSoon() throws Exception {
        executor.execute(() -> {}); // this thread would stay for ten seconds
        executor.close();
        CompletableFuture<Thread> ran = new CompletableFuture<>();
        executor.execute(() -> ran.complete(Thread.currentThread()));
        Thread thread = ran.get(20, TimeUnit.SECONDS);
        assertThat(thread).isNotSameAs(Thread.currentThread());
        assertThat(thread.getName()).startsWith("lockstep-callback-test");
        thread.join(5_000);
        assertThat(thread.isAlive()).isFalse();
    }

    @Test
    void callbacksThatWaitForLaterOnesDoNotStarve() throws Exception {
        int chain = 20;
        CountDownLatch last = new CountDownLatch(1);
        CountDownLatch done = new CountDownLatch(chain);
        for (int i = 0; i < chain; i++) {
            executor.execute(() -> {
                try {
                    last.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
                done.countDown();
            });
        }
        executor.execute(last::countDown);
        assertThat(done.await(50, TimeUnit.SECONDS)).isTrue();
    }
}
