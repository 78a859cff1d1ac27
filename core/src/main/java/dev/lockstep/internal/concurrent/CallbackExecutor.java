package dev.lockstep.internal.concurrent;

import dev.lockstep.spi.Scheduler;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Where users' code runs unless they say otherwise: a few daemon threads, made when needed and gone soon after. A burst of
 * call-backs queues for them. If none of them gets on while others wait, as when call-backs wait for each other, it grows
 * by one thread at a time, so that it cannot starve.
 */
public final class CallbackExecutor implements Executor, AutoCloseable {
    private static final int CORE_THREADS = 8;
    private static final long IDLE_SECONDS = 10;
    private static final long STALL_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private final Scheduler scheduler;
    private final ThreadPoolExecutor threads;
    private final AtomicBoolean watching = new AtomicBoolean();

    public CallbackExecutor(String clientName, Scheduler scheduler) {
        this.scheduler = scheduler;
        AtomicLong count = new AtomicLong();
        threads = new ThreadPoolExecutor(
                CORE_THREADS, Integer.MAX_VALUE, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
                    String name = "lockstep-callback-" + clientName + "-" + count.incrementAndGet();
                    // Inherits no thread-local variables: they would be those of the first caller that needs a thread,
                    // and would stay.
                    Thread thread = new Thread(null, task, name, 0, false);
                    thread.setContextClassLoader(Thread.currentThread().getContextClassLoader());
                    thread.setDaemon(true);
                    return thread;
                });
        threads.allowCoreThreadTimeOut(true);
    }

    @Override
    public void execute(Runnable task) {
        threads.execute(task);
        if (!threads.getQueue().isEmpty() && watching.compareAndSet(false, true)) {
            watch();
        }
    }

    private void watch() {
        long before = threads.getCompletedTaskCount();
        scheduler.schedule(STALL_NANOS, () -> look(before));
    }

    private void look(long before) {
        if (threads.getQueue().isEmpty()) {
            watching.set(false);
            threads.setCorePoolSize(CORE_THREADS);
            if (threads.getQueue().isEmpty() || !watching.compareAndSet(false, true)) {
                return;
            }
        } else if (threads.getCompletedTaskCount() == before) {
            threads.setCorePoolSize(threads.getCorePoolSize() + 1);
        }
        watch();
    }

    /**
     * Lets threads end as soon as they have nothing to do. Tasks are taken all the same: an answer that comes after the client
     * was closed may complete a future, and users' code must not run in the thread that brings it.
     */
    @Override
    public void close() {
        threads.setKeepAliveTime(1, TimeUnit.MILLISECONDS);
    }
}
