package dev.lockstep.internal.time;

import dev.lockstep.spi.Scheduler;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** The real clocks, and one daemon thread for all timers of a client. */
public final class SystemScheduler implements Scheduler, AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(SystemScheduler.class);
    private static final long WORTH_KNOWING_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final Timer NONE = () -> {};

    private final List<Runnable> afterJumps = new CopyOnWriteArrayList<>();
    private final ScheduledThreadPoolExecutor timers;
    private final LeaseClock clock;

    public SystemScheduler(String clientName) {
        timers = new ScheduledThreadPoolExecutor(1, task -> {
            Thread thread = new Thread(task, "lockstep-timer-" + clientName);
            thread.setDaemon(true);
            return thread;
        });
        timers.setRemoveOnCancelPolicy(true);
        timers.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        clock = new LeaseClock(
                System::nanoTime, System::currentTimeMillis, System.getProperty("os.name", ""), this::jumped);
    }

    @Override
    public long nanoTime() {
        return clock.nanoTime();
    }

    @Override
    public long requestNanos() {
        return clock.requestNanos();
    }

    @Override
    public long monotonicNanos() {
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

    @Override
    public Timer afterJumps(Runnable task) {
        afterJumps.add(task);
        return () -> afterJumps.remove(task);
    }

    /** The thread that noticed it may hold a mutex, so nothing is done here. */
    private void jumped(long nanos) {
        schedule(0, () -> {
            // A wall clock that is being adjusted makes many small jumps.
            log.atLevel(nanos < WORTH_KNOWING_NANOS ? Level.DEBUG : Level.INFO)
                    .log(
                            "The machine was suspended for {} ms, or its wall clock was set forward;"
                                    + " locks may have expired meanwhile",
                            TimeUnit.NANOSECONDS.toMillis(nanos));
            afterJumps.forEach(SystemScheduler::run);
        });
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
