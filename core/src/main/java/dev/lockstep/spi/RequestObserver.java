package dev.lockstep.spi;

import org.jspecify.annotations.Nullable;

/**
 * Observes a backend's requests, for metrics. A backend calls {@link #ended} at the one place through which its
 * requests go; {@link Renewer} reports renewals that failed. It is cheap if there are no observers, and throws nothing.
 * Safe for use by many threads.
 */
public interface RequestObserver {
    /** Observes nothing. */
    RequestObserver NONE = (kind, sentNanos, failure) -> {};

    /**
     * The engine has answered one try of a request, or failed to.
     *
     * @param kind what was asked: one of a few fixed words of the engine, such as {@code acquire} or {@code Txn}; never a name or a key
     * @param sentNanos the {@link Scheduler#nanoTime()} at which it was sent
     * @param failure null if the engine answered
     */
    void ended(String kind, long sentNanos, @Nullable Throwable failure);

    /**
     * A renewal was not confirmed.
     *
     * @param size how many items it was for
     * @param failure why
     */
    default void renewalFailed(int size, Throwable failure) {}
}
