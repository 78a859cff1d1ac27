package dev.lockstep.spi;

import java.time.Duration;
import java.util.Comparator;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * A clock that only a test moves. Timers run on the thread that moves it, in order of their time and, at one time, in
 * the order in which they were scheduled: the same test makes the same history each time.
 *
 * <p>Threads under test may read the clock and schedule; one thread at a time moves it. A timer runs without any lock
 * held, so that it may schedule and cancel.
 */
public final class VirtualScheduler implements Scheduler {
    private final PriorityQueue<Task> tasks =
            new PriorityQueue<>(Comparator.<Task>comparingLong(task -> task.at).thenComparingLong(task -> task.order));
    private long elapsed;
    private long scheduled;
    private final long origin;

    /** Starts at an origin where sums overflow soon, so that a test also finds comparisons that ignore it. */
    public VirtualScheduler() {
        this(Long.MAX_VALUE - Duration.ofSeconds(20).toNanos());
    }

    /**
     * Starts at a time of choice.
     *
     * @param origin the first reading of the clock
     */
    public VirtualScheduler(long origin) {
        this.origin = origin;
    }

    @Override
    public synchronized long nanoTime() {
        return origin + elapsed;
    }

    @Override
    public synchronized Timer schedule(long delayNanos, Runnable task) {
        Task fresh = new Task(elapsed + Math.max(delayNanos, 0), scheduled++, task);
        tasks.add(fresh);
        return () -> cancel(fresh);
    }

    /**
     * Lets time pass, timer by timer.
     *
     * @param time how long
     */
    public void advance(Duration time) {
        long end = elapsed() + time.toNanos();
        for (Task task = takeUntil(end); task != null; task = takeUntil(end)) {
            task.action.run();
        }
        moveTo(end);
    }

    /** Runs what is due now, without letting time pass. */
    public void runDue() {
        advance(Duration.ZERO);
    }

    /**
     * Lets time pass with no timer running, as while the process is stopped; then runs all that became due, late.
     *
     * @param time how long
     */
    public void pause(Duration time) {
        moveTo(elapsed() + time.toNanos());
        runDue();
    }

    /**
     * Counts the timers that wait.
     *
     * @return how many have neither run nor been cancelled
     */
    public synchronized int pending() {
        return tasks.size();
    }

    /**
     * Computes how long it is until the next timer.
     *
     * @return zero if it is due; negative if there is none
     */
    public synchronized Duration untilNext() {
        Task next = tasks.peek();
        return next == null ? Duration.ofNanos(-1) : Duration.ofNanos(Math.max(next.at - elapsed, 0));
    }

    private synchronized long elapsed() {
        return elapsed;
    }

    private synchronized void moveTo(long time) {
        elapsed = Math.max(elapsed, time);
    }

    private synchronized @Nullable Task takeUntil(long end) {
        Task next = tasks.peek();
        if (next == null || next.at > end) {
            return null;
        }
        tasks.remove();
        elapsed = Math.max(elapsed, next.at);
        return next;
    }

    private synchronized void cancel(Task task) {
        tasks.remove(task);
    }

    private static final class Task {
        final long at;
        final long order;
        final Runnable action;

        Task(long at, long order, Runnable action) {
            this.at = at;
            this.order = order;
            this.action = action;
        }
    }
}
