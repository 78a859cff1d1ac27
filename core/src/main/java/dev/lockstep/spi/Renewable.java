package dev.lockstep.spi;

import dev.lockstep.LossReason;

/** Something that ends unless it is renewed in time: a grant with its own expiry, or a session that carries many. */
public interface Renewable {
    /**
     * Until when it is valid if nothing renews it.
     *
     * @return by {@link Scheduler#nanoTime()}
     */
    long validUntilNanos();

    /**
     * It was renewed.
     *
     * @param deadlineNanos until when it is valid now; never moves back
     */
    void renewedUntil(long deadlineNanos);

    /**
     * The engine ended it.
     *
     * @param reason why
     */
    void signalLost(LossReason reason);
}
