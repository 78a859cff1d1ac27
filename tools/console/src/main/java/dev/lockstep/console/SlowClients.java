package dev.lockstep.console;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/**
 * Ends the connections of clients that send a request or read an answer too slowly: each occupies a thread. The JDK's server reads and
 * writes with blocking channels, which close if their thread is interrupted. Thread-safe.
 */
final class SlowClients implements AutoCloseable {
    private final long patienceNanos;
    private final Map<Thread, Long> since = new HashMap<>(); // guarded by this
    private final ScheduledExecutorService timer;

    SlowClients(Duration patience) {
        patienceNanos = patience.toNanos();
        timer = Executors.newSingleThreadScheduledExecutor(task -> {
            Thread made = new Thread(task, "lockstep-console-slow");
            made.setDaemon(true);
            return made;
        });
        ScheduledFuture<?> unused =
                timer.scheduleWithFixedDelay(this::look, patienceNanos / 4, patienceNanos / 4, TimeUnit.NANOSECONDS);
    }

    /** Runs what reads a request and answers it. */
    void serve(Runnable exchange) {
        resume();
        try {
            exchange.run();
        } finally {
            pause();
        }
    }

    /** From now on, this thread waits for its client. */
    synchronized void resume() {
        since.put(Thread.currentThread(), System.nanoTime());
    }

    /** From now on, this thread waits for something else. */
    synchronized void pause() {
        since.remove(Thread.currentThread());
        Thread.interrupted(); // it was late, but is done
    }

    private synchronized void look() {
        long now = System.nanoTime();
        since.entrySet().removeIf(each -> {
            boolean late = now - each.getValue() > patienceNanos;
            if (late) {
                each.getKey().interrupt();
            }
            return late;
        });
    }

    @Override
    public void close() {
        timer.shutdownNow();
    }
}
