package dev.lockstep.internal;

import java.util.concurrent.Executor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Where users' code runs unless they say otherwise: daemon threads, made when needed and gone soon after. It grows, so
 * that a call-back that waits for another cannot starve it.
 */
final class CallbackExecutor implements Executor, AutoCloseable {
    private static final long IDLE_SECONDS = 10;

    private final ThreadPoolExecutor threads;

    CallbackExecutor(String clientName) {
        AtomicLong count = new AtomicLong();
        threads = new ThreadPoolExecutor(
                0, Integer.MAX_VALUE, IDLE_SECONDS, TimeUnit.SECONDS, new SynchronousQueue<>(), task -> {
                    Thread thread = new Thread(task, "lockstep-callback-" + clientName + "-" + count.incrementAndGet());
                    thread.setDaemon(true);
                    return thread;
                });
    }

    @Override
    public void execute(Runnable task) {
        threads.execute(task);
    }

    /** Lets what runs end, and takes nothing more. */
    @Override
    public void close() {
        threads.shutdown();
    }
}
