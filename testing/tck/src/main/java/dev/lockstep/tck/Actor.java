package dev.lockstep.tck;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicReference;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/**
 * A thread that makes the calls it is given, one after the other: what a test needs to say who holds a lock. Its
 * interrupt flag survives from call to call.
 */
final class Actor {
    private static final Call<Boolean> STOP = new Call<>("nobody", () -> true);

    private final BlockingQueue<Call<?>> calls = new LinkedBlockingQueue<>();
    private final AtomicReference<@Nullable Call<?>> current = new AtomicReference<>();
    private final Thread thread;
    private volatile boolean stopped;

    Actor(String name) {
        thread = new Thread(this::work, name);
        thread.setDaemon(true);
        thread.start();
    }

    private void work() {
        boolean interrupted = false;
        while (true) {
            Call<?> call;
            try {
                call = calls.take();
            } catch (InterruptedException e) {
                interrupted = true;
                continue;
            }
            if (call == STOP) {
                return;
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
            current.set(call);
            call.run();
            current.set(null);
            interrupted = Thread.interrupted();
        }
    }

    /** Begins a call and returns. */
    <T> Call<T> start(Call.Work<T> work) {
        if (stopped) {
            throw new IllegalStateException(thread.getName() + " was stopped");
        }
        Call<T> call = new Call<>(thread.getName(), work);
        calls.add(call);
        return call;
    }

    /** Begins a call without a result and returns. */
    Call<Boolean> starts(Call.Step step) {
        return start(() -> {
            step.run();
            return true;
        });
    }

    /** Makes a call and waits for it. */
    <T> T call(Call.Work<T> work) throws Exception {
        return start(work).get();
    }

    /** Makes a call without a result and waits for it. */
    void does(Call.Step step) throws Exception {
        starts(step).get();
    }

    void interrupt() {
        thread.interrupt();
    }

    String name() {
        return thread.getName();
    }

    /**
     * Waits until the actor's thread is parked inside a call. A hint that the call waits for the lock, not a proof: a
     * test must be right without it, and is merely more telling with it.
     */
    void awaitParked() {
        Awaitility.await(thread.getName() + " waits inside its call")
                .pollInSameThread()
                .atMost(Bench.PATIENCE)
                .pollDelay(Bench.FIRST_POLL)
                .pollInterval(Bench.POLL)
                .until(() -> current.get() != null
                        && (thread.getState() == Thread.State.WAITING
                                || thread.getState() == Thread.State.TIMED_WAITING));
    }

    /** Ends the thread, interrupting what it does. */
    void stop() {
        stopped = true;
        calls.add(STOP);
        if (current.get() != null) {
            thread.interrupt();
        }
    }

    /** Waits for the thread's end after {@link #stop}; false if it does not end. */
    boolean join() throws InterruptedException {
        thread.join(Bench.PATIENCE.toMillis());
        return !thread.isAlive();
    }
}
