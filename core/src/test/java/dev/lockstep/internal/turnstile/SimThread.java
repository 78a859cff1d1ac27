package dev.lockstep.internal.turnstile;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockMode;
import dev.lockstep.LockOptions;
import dev.lockstep.internal.client.Client;
import dev.lockstep.internal.concurrent.ThreadName;
import dev.lockstep.internal.lock.HoldLease;
import dev.lockstep.spi.LockBackend;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A thread that waits for a lock, without the thread: it looks when the simulation says so, and so may be as late as the
 * simulation likes. It does what {@link ThreadWait#await} does between two times of being parked.
 */
public final class SimThread {
    /** The wait of a call without a deadline. */
    public static final long FOREVER = Call.NO_LIMIT;

    private final TurnstileContext client;
    private final Entry entry;
    private final @Nullable ThreadWait wait;
    private @Nullable Hold hold;

    /** Begins to wait. */
    public SimThread(LockClient client, String name, LockMode mode, LockOptions options, long waitNanos) {
        this(new Thread("simulated"), client, name, mode, options, waitNanos);
    }

    /** Begins to wait as a thread that may hold other locks. */
    public SimThread(Thread owner, LockClient client, String name, LockMode mode, LockOptions options, long waitNanos) {
        this.client = ((Client) client).context();
        Call call = new Call(mode, options, waitNanos, LockBackend.DO_NOT_BLOCK, ThreadName.of(owner), owner, null);
        Entry entered = null;
        while (entered == null) {
            entered = this.client.turnstile(name).enter(call);
        }
        this.entry = entered;
        this.wait = entered instanceof Waiter waiter ? new ThreadWait(waiter) : null;
    }

    private @Nullable Result result() {
        return entry instanceof Waiter waiter ? waiter.result() : new Result.Held((Hold) entry);
    }

    /** Whether its wait is over, though it may not have looked yet. */
    public boolean isDone() {
        return result() != null;
    }

    /** Looks once. True if the wait is over. */
    public boolean look() {
        return wait == null || wait.look() != null;
    }

    /** Whether it waits for the lock no longer, at most until nothing is left of it at the engine. */
    public boolean isOver() {
        return !(entry instanceof Waiter waiter) || waiter.isOver();
    }

    /** Whether its wait was ended by an interrupt. */
    public boolean gaveUp() {
        return result() instanceof Result.GaveUp;
    }

    /** Is interrupted, and looks. True if it gives up because of that; false if the wait was over before. */
    public boolean interrupt() {
        return !look() && interruptUnseen();
    }

    /** Is interrupted before it sees what it was offered. False if the wait was over before. */
    public boolean interruptUnseen() {
        return entry instanceof Waiter waiter && waiter.giveUp();
    }

    /** Its result; null if there is none. */
    public @Nullable Lease lease() {
        if (!(result() instanceof Result.Held got)) {
            return null;
        }
        hold = got.hold();
        got.hold().countLease();
        return new HoldLease(got.hold());
    }

    /** Why it got nothing; null if another caller holds the lock. */
    public @Nullable Throwable error() {
        return result() instanceof Result.Failed failed ? failed.exception().get() : null;
    }

    /** Releases what it got. */
    public CompletableFuture<Void> giveBack() {
        Hold got = hold;
        if (got == null) {
            throw new IllegalStateException("nothing to release");
        }
        return Releases.releaseAsync(got, client);
    }
}
