package dev.lockstep.spi;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletionStage;

/**
 * Renews what would otherwise expire, in batches, with one timer for all. Shared by the backends: one whose grants have
 * their own expiry registers each of them; one with sessions registers the session alone.
 *
 * <p>Every third of the ttl, fixed delay, all registered items are renewed. A batch that fails is tried again with the
 * client's backoff until it succeeds; an item whose deadline passes meanwhile is the core's to declare lost. What the
 * engine reports as gone is signalled as lost and forgotten.
 *
 * <p>Safe for use by many threads. No thread of its own, and no timer while nothing is registered.
 *
 * @param <R> what is renewed
 */
public final class Renewer<R extends Renewable> implements AutoCloseable {
    /** Does the I/O of a renewal. */
    @FunctionalInterface
    public interface Action<R> {
        /**
         * Renews a batch, without blocking.
         *
         * @param batch what to renew, at most the batch size
         * @return those of the batch that the engine no longer knows; exceptional if the engine did not answer
         */
        CompletionStage<? extends Collection<? extends R>> renew(List<R> batch);
    }

    /**
     * The validity that a request sent at a time gives: the ttl less a margin for clock drift, of 1 % and 2 ms.
     *
     * @param sentNanos when the request was sent
     * @param ttl the ttl at the server
     * @return until when what was renewed is valid
     */
    public static long deadline(long sentNanos, Duration ttl) {
        long nanos = ttl.toNanos();
        return sentNanos + nanos - nanos / 100 - 2_000_000;
    }

    /**
     * Makes a renewer. Nothing runs until something is registered.
     *
     * @param context time, ttl and backoff
     * @param batchSize the most items of one request
     * @param action does the I/O
     */
    public Renewer(BackendContext context, int batchSize, Action<R> action) {
        throw new UnsupportedOperationException();
    }

    /**
     * Begins to renew an item. Its own deadline stands until the first renewal.
     *
     * @param item what to renew
     */
    public void register(R item) {}

    /**
     * Stops to renew an item. A renewal that is on its way changes nothing more about it.
     *
     * @param item what not to renew any longer
     */
    public void unregister(R item) {}

    /** Stops for good. */
    @Override
    public void close() {}
}
