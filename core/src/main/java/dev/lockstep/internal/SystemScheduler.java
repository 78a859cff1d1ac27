package dev.lockstep.internal;

import dev.lockstep.spi.Scheduler;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The real clock, and one daemon thread for all timers of a client. */
final class SystemScheduler implements Scheduler, AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(SystemScheduler.class);
    private static final Timer NONE = () -> {};

    private final ScheduledThreadPoolExecutor timers;

    SystemScheduler(String clientName) {
        timers = new ScheduledThreadPoolExecutor(1, task -> {
            Thread thread = new Thread(task, "lockstep-timer-" + clientName);
            thread.setDaemon(true);
            return thread;
        });
        timers.setRemoveOnCancelPolicy(true);
        timers.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public Timer schedule(long delayNanos, Runnable task) {
        try {
            ScheduledFuture<?> scheduled = timers.schedule(() -> run(task), delayNanos, TimeUnit.NANOSECONDS);
            return () -> scheduled.cancel(false);
        } catch (RejectedExecutionException e) {
            return NONE; // closed: nothing is timed any more
        }
    }

    private static void run(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException | Error e) {
            log.error("A timer's task failed", e);
        }
    }

    @Override
    public void close() {
        timers.shutdown();
    }
}
