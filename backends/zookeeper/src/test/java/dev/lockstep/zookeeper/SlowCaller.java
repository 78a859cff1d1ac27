package dev.lockstep.zookeeper;

import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.Scheduler;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/** A clock that holds a thread up between its first request and its second: each request reads the clock once. */
final class SlowCaller {
    private final Callable<Boolean> until;
    private volatile @Nullable Thread slow;
    private int readings; // only touched by that thread

    SlowCaller(Callable<Boolean> until) {
        this.until = until;
    }

    /** Holds a thread up, once, until the condition holds. */
    void slowDown(Thread thread) {
        readings = 0;
        slow = thread;
    }

    boolean wasSlow() {
        return slow == null;
    }

    BackendContext in(BackendContext context) {
        Scheduler real = context.scheduler();
        Scheduler clock = new Scheduler() {
            @Override
            public long nanoTime() {
                if (Thread.currentThread() == slow && ++readings == 2) {
                    slow = null;
                    Awaitility.await()
                            .atMost(Duration.ofSeconds(20))
                            .pollInSameThread()
                            .until(until);
                }
                return real.nanoTime();
            }

            @Override
            public Timer schedule(long delayNanos, Runnable task) {
                return real.schedule(delayNanos, task);
            }
        };
        return context.withScheduler(clock);
    }
}
