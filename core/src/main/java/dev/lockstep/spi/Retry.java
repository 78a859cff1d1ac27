package dev.lockstep.spi;

import dev.lockstep.LockUnavailableException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * When a request that failed is tried again: after the client's backoff, until an end. It counts the failures; the
 * caller decides whether a failure should be tried again.
 *
 * <p>Not safe for use by many threads: one try at a time uses it.
 */
public final class Retry {
    private final BackendContext context;
    private final boolean endless;
    private final long endNanos;
    private final boolean firstAtOnce;
    private int failures;

    private Retry(BackendContext context, boolean endless, long endNanos, boolean firstAtOnce) {
        this.context = context;
        this.endless = endless;
        this.endNanos = endNanos;
        this.firstAtOnce = firstAtOnce;
    }

    /**
     * Retries without a limit.
     *
     * @param context whose backoff and timers are used
     * @return retries of one request
     */
    public static Retry endless(BackendContext context) {
        return new Retry(context, true, 0, false);
    }

    /**
     * Retries until a time.
     *
     * @param context whose backoff and timers are used
     * @param endNanos the {@link Scheduler#nanoTime()} from which nothing is tried any more
     * @return retries of one request
     */
    public static Retry until(BackendContext context, long endNanos) {
        return new Retry(context, false, endNanos, false);
    }

    /**
     * Retries for the ttl: for a release or withdrawal, since the engine removes the claim by itself when the ttl has
     * passed.
     *
     * @param context whose ttl, backoff and timers are used
     * @return retries of one request
     */
    public static Retry forTtl(BackendContext context) {
        return until(context, context.scheduler().nanoTime() + context.ttl().toNanos());
    }

    /**
     * Does not wait after the first failure. For connections that a server may have closed because they were idle: the
     * next one is new.
     *
     * @return a copy that has counted nothing
     */
    public Retry firstAtOnce() {
        return new Retry(context, endless, endNanos, true);
    }

    /**
     * The request failed.
     *
     * @return the nanoseconds until the next try; negative if the limit is reached first
     */
    public long delayNanos() {
        failures++;
        long delay = failures == 1 && firstAtOnce
                ? 0
                : context.retryBackoff().delay(failures).toNanos();
        return endless || context.scheduler().nanoTime() + delay - endNanos < 0 ? delay : -1;
    }

    /**
     * The request failed, and is tried again.
     *
     * @param attempt makes the next try, on the thread of the timers; must not block
     * @return false if the limit is reached first: then there is no further try
     */
    public boolean later(Runnable attempt) {
        long delay = delayNanos();
        if (delay < 0) {
            return false;
        }
        context.scheduler().schedule(delay, attempt);
        return true;
    }

    /**
     * Counts the failures since the last success.
     *
     * @return how many tries have failed in a row
     */
    public int failures() {
        return failures;
    }

    /** The request was answered: the next failure is the first one again. */
    public void succeeded() {
        failures = 0;
    }

    /**
     * Connects in the calling thread, and tries again while the engine is unreachable, since an engine that restarts is
     * back soon. Tries begin within the request timeout. An interrupt ends the wait for the next try, and stays set.
     *
     * @param <T> what is connected
     * @param context whose request timeout and backoff are used
     * @param connect one try
     * @param isFinal whether a failure will be the same at the next try
     * @return what was connected
     * @throws LockUnavailableException the failure of the last try
     */
    public static <T> T connect(
            BackendContext context, Supplier<T> connect, Predicate<? super LockUnavailableException> isFinal) {
        Retry retry = until(context, context.requestDeadlineNanos());
        while (true) {
            try {
                return connect.get();
            } catch (LockUnavailableException e) {
                long delay = retry.delayNanos();
                if (delay < 0 || isFinal.test(e)) {
                    throw e;
                }
                LockSupport.parkNanos(context, delay);
                if (Thread.currentThread().isInterrupted()) {
                    throw e;
                }
            }
        }
    }
}
