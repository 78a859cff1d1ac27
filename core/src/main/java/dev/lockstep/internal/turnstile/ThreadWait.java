package dev.lockstep.internal.turnstile;

import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** How a thread waits for the result of its call. Used by that thread alone. */
public final class ThreadWait {
    private final Turnstile turnstile;
    private final TurnstileContext client;
    private final Waiter waiter;
    private final boolean bounded;

    /** When the wait ends, by the clock of waits: a wall clock that is set does not change it. */
    private final long deadlineNanos;

    /** A thread begins to wait for a call that has entered. */
    public ThreadWait(Waiter waiter) {
        this.turnstile = waiter.turnstile;
        this.client = turnstile.client();
        this.waiter = waiter;
        this.bounded = waiter.isBounded();
        // Before the first look: what may block inside the loop would swallow the wake-up between the look and the
        // park.
        client.watchOutage(waiter.startNanos);
        client.watchWait();
        this.deadlineNanos =
                bounded ? client.monotonicNanos() + waiter.boundNanos() - (client.nanoTime() - waiter.startNanos) : 0;
    }

    /**
     * Waits for the result.
     *
     * <pre>
     *   until there is a result:
     *     take what is offered
     *     if the time is up, or interrupted: give up, unless the result came first;
     *       the result comes when nothing is left at the engine
     *     park
     * </pre>
     */
    public Result await(boolean interruptible) throws InterruptedException {
        boolean interrupted = false;
        try {
            while (true) {
                Result result = look();
                if (result instanceof Result.GaveUp) {
                    interrupted = false;
                    throw new InterruptedException("Interrupted while waiting for lock '" + turnstile.name() + "'");
                }
                if (result != null) {
                    return result;
                }
                if (Thread.interrupted()) {
                    interrupted |= !interruptible || !turnstile.giveUp(waiter);
                } else {
                    park();
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Waits until a call that has given up has its result: until nothing of it is left at the engine. Keeps interrupts. */
    public static Result awaitEnd(Waiter waiter) {
        boolean interrupted = false;
        Result result = waiter.result();
        while (result == null) {
            LockSupport.park(waiter.turnstile);
            interrupted |= Thread.interrupted();
            result = waiter.result();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return result;
    }

    private void park() {
        if (bounded && !waiter.hasGivenUp()) {
            long left = deadlineNanos - client.monotonicNanos();
            LockSupport.parkNanos(turnstile, Math.max(left, Turnstile.LOOK_AGAIN_NANOS));
        } else {
            LockSupport.park(turnstile);
        }
    }

    /**
     * One look: takes what is offered, gives up when the time is up. Null if the thread is to park: then nothing that can
     * block comes after the last look at what is offered, so that no wake-up is lost.
     */
    @Nullable
    Result look() {
        while (waiter.result() == null && waiter.isOffered()) {
            turnstile.takeOffer(waiter); // what follows may block, and use up the wake-up of the next offer
        }
        if (waiter.result() == null && bounded && client.monotonicNanos() - deadlineNanos >= 0) {
            turnstile.timeUp(waiter);
        }
        Result result = waiter.result();
        if (result != null && waiter.isRecorded()) {
            client.endWait(waiter);
        }
        return result;
    }
}
