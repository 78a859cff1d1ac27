package dev.lockstep.jdbc;

import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * How long a waiter rests between two looks at a lock, where the database does not push. Used by one thread at a time.
 */
final class Pace {
    /*
     * Overview. Only the head of the queue can have the lock, so only the head looks often: soon after something has
     * changed, and then after a quarter of the time for which nothing has, up to 100 ms. So it is late by a quarter of the
     * hold before it at most, and a long hold costs few looks.
     *
     * The others have to know in time that they are the head. Each estimates how long the queue takes for one place, and
     * rests for half the time that it expects to wait: it looks a few times while the queue moves on, whatever its
     * length. No claim rests longer than 100 ms for each place up to its own, and 1 s at most, since the estimate may
     * be wrong and clients die. A hundred clients that wait for a lock which nobody releases look 130 times a second,
     * all together.
     */
    private static final long LEAST_NANOS = 2_000_000;
    private static final long MOST_NANOS_FOR_A_PLACE = 100_000_000;
    private static final long MOST_NANOS = 1_000_000_000;

    /** The time for one place until an estimate is known. */
    private static final long FIRST_GUESS_NANOS = 4_000_000;

    private long changedNanos;
    private long placeNanos = FIRST_GUESS_NANOS;
    private @Nullable String holders;
    private @Nullable String head;
    private long headTicket;
    private long headNanos;

    Pace(long nowNanos) {
        changedNanos = nowNanos;
        headNanos = nowNanos;
    }

    /**
     * Records the result of a look.
     *
     * @param seenHolders who holds, or how many do
     * @param ticket that of the head; 0 if nobody waits or that is not known
     */
    void seen(long nowNanos, String seenHolders, @Nullable String seenHead, long ticket) {
        if (!Objects.equals(holders, seenHolders) || !Objects.equals(head, seenHead)) {
            holders = seenHolders;
            head = seenHead;
            changedNanos = nowNanos;
        }
        if (ticket > headTicket) {
            if (headTicket > 0) {
                placeNanos = (placeNanos + (nowNanos - headNanos) / (ticket - headTicket)) / 2;
            }
            headTicket = ticket;
            headNanos = nowNanos;
        }
    }

    /** For how long nothing has changed, as far as was seen. */
    long unchangedNanos(long nowNanos) {
        return nowNanos - changedNanos;
    }

    /**
     * How long to rest now.
     *
     * @param ahead how many may be before the claim in the queue
     */
    long delayNanos(long nowNanos, long ahead) {
        long unchanged = unchangedNanos(nowNanos);
        long wanted = ahead <= 0 ? unchanged / 4 : ahead * Math.max(placeNanos, nowNanos - headNanos) / 2;
        long most = Math.min(MOST_NANOS_FOR_A_PLACE * (Math.max(ahead, 0) + 1), MOST_NANOS);
        long delay = Math.max(Math.min(wanted, most), LEAST_NANOS);
        return delay - ThreadLocalRandom.current().nextLong(delay / 4); // so that clients do not look in step
    }
}
