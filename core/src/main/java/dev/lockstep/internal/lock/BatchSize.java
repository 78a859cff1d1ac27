package dev.lockstep.internal.lock;

import dev.lockstep.internal.turnstile.TurnstileContext;

/**
 * How many locks a call asks for at once: as many as the engine takes, and fewer for a while after one was refused, because
 * the locks behind that one were sent for nothing. Guarded by its user.
 */
final class BatchSize {
    private static final int GROWTH = 8;

    private final TurnstileContext client;
    private int limit = Integer.MAX_VALUE;

    BatchSize(TurnstileContext client) {
        this.client = client;
    }

    /** How many to ask for, of those that are left; 1 to take the next one alone. */
    int next(int left) {
        return Math.min(Math.min(limit, client.backend().batchSize()), left);
    }

    /** The engine has answered, and granted the first {@code granted} locks. */
    void answered(int asked, int granted) {
        if (granted < asked) {
            limit = Math.max(2, 2 * granted);
        } else {
            limit = limit > Integer.MAX_VALUE / GROWTH ? Integer.MAX_VALUE : limit * GROWTH;
        }
    }
}
