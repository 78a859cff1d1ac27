package dev.lockstep.internal;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockMode;
import dev.lockstep.LockOptions;
import dev.lockstep.spi.LockBackend;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A thread that waits for a lock, without the thread: it looks when the simulation says so, and so may be as late as the
 * simulation likes. It does what {@link Turnstile#await} does between two times of being parked.
 */
public final class SimThread {
    /** The wait of a call without a deadline. */
    public static final long FOREVER = -1;

    private final Client client;
    private final Waiter waiter;
    private final long waitNanos;
    private final long deadlineNanos;
    private final Turnstile turnstile;
    private @Nullable Hold hold;

    /** Begins to wait. */
    public SimThread(LockClient client, String name, LockMode mode, LockOptions options, long waitNanos) {
        this.client = (Client) client;
        this.waitNanos = waitNanos;
        this.waiter = new Waiter(
                mode,
                options,
                this.client.nanoTime(),
                true,
                waitNanos != FOREVER,
                LockBackend.DO_NOT_BLOCK,
                new Thread("simulated"),
                null);
        Turnstile entered = this.client.turnstile(name);
        while (!entered.enter(waiter)) {
            entered = this.client.turnstile(name);
        }
        this.turnstile = entered;
        this.deadlineNanos = entered.waitDeadline(waiter, waitNanos);
        this.client.watchOutage(waiter.startNanos);
    }

    /** Whether its wait is over, though it may not have looked yet. */
    public boolean isDone() {
        return waiter.result != null;
    }

    /** Looks once. True if the wait is over. */
    public boolean look() {
        return turnstile.look(waiter, waitNanos != FOREVER, deadlineNanos) != null;
    }

    /** Whether it waits for the lock no longer, at most until nothing is left of it at the engine. */
    public boolean isOver() {
        return waiter.isOver();
    }

    /** Whether its wait was ended by an interrupt. */
    public boolean gaveUp() {
        return waiter.result == Waiter.GAVE_UP;
    }

    /** Is interrupted, and looks. True if it gives up because of that; false if the wait was over before. */
    public boolean interrupt() {
        return !look() && turnstile.giveUp(waiter);
    }

    /** Is interrupted before it sees what it was offered. False if the wait was over before. */
    public boolean interruptUnseen() {
        return turnstile.giveUp(waiter);
    }

    /** What it got; null if nothing. */
    public @Nullable Lease lease() {
        if (!(waiter.result instanceof Hold got)) {
            return null;
        }
        hold = got;
        got.leases++;
        return new HoldLease(got);
    }

    /** Why it got nothing; null if somebody else holds the lock. */
    public @Nullable Throwable error() {
        Object result = waiter.result;
        return result instanceof Waiter.Failure failure ? failure.toException() : null;
    }

    /** Gives back what it got. */
    public CompletableFuture<Void> giveBack() {
        Hold got = hold;
        if (got == null) {
            throw new IllegalStateException("nothing to give back");
        }
        return Releases.giveBackAsync(got, client);
    }
}
