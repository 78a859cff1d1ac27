package dev.lockstep.internal.lock;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockMode;
import dev.lockstep.LockOptions;
import dev.lockstep.internal.concurrent.CallerContext;
import dev.lockstep.internal.turnstile.Call;
import dev.lockstep.internal.turnstile.Entry;
import dev.lockstep.internal.turnstile.Hold;
import dev.lockstep.internal.turnstile.Releases;
import dev.lockstep.internal.turnstile.Result;
import dev.lockstep.internal.turnstile.ThreadWait;
import dev.lockstep.internal.turnstile.Turnstile;
import dev.lockstep.internal.turnstile.TurnstileContext;
import dev.lockstep.internal.turnstile.Waiter;
import dev.lockstep.internal.watch.HoldWatch;
import dev.lockstep.spi.Durations;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A lock of one name: the plain or write lock, or the read lock. All that waits or decides is in the turnstile. */
public final class TurnstileLock implements DistributedLock {
    private static final long LONGEST = Durations.LONGEST_LIMIT.toNanos();

    private final TurnstileContext client;
    private final HoldWatch holds;
    private final String name;
    private final LockMode mode;
    private final LockOptions options;
    private final @Nullable String asker;

    /** The turnstile last used; may have been retired since. A race here only costs a look-up. */
    private @Nullable Turnstile recent;

    public TurnstileLock(TurnstileContext client, HoldWatch holds, String name, LockMode mode, LockOptions options) {
        this(client, holds, name, mode, options, null);
    }

    /**
     * Makes one whose asynchronous calls others see under a name.
     *
     * @param asker stands for the name of the calling thread; null for that name itself
     */
    public TurnstileLock(
            TurnstileContext client,
            HoldWatch holds,
            String name,
            LockMode mode,
            LockOptions options,
            @Nullable String asker) {
        this.client = client;
        this.holds = holds;
        this.name = name;
        this.mode = mode;
        this.options = Objects.requireNonNull(options, "options");
        this.asker = asker;
    }

    @Override
    public String name() {
        return name;
    }

    LockMode mode() {
        return mode;
    }

    LockOptions options() {
        return options;
    }

    // ---------------------------------------------------------------- taking

    @Override
    public void lock() {
        counted(require(takeUninterruptibly(Call.FOREVER)));
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        counted(require(take(Call.FOREVER, true)));
    }

    @Override
    public boolean tryLock() {
        return counted(takeUninterruptibly(Call.NOT_AT_ALL));
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
        return counted(take(waitNanos(Duration.ofNanos(unit.toNanos(time))), true));
    }

    @Override
    public Lease acquire() throws InterruptedException {
        return lease(require(take(Call.FOREVER, true)));
    }

    @Override
    public Lease acquireUninterruptibly() {
        return lease(require(takeUninterruptibly(Call.FOREVER)));
    }

    @Override
    public Optional<Lease> tryAcquire() {
        return Optional.ofNullable(takeUninterruptibly(Call.NOT_AT_ALL)).map(this::lease);
    }

    @Override
    public Optional<Lease> tryAcquire(Duration wait) throws InterruptedException {
        return Optional.ofNullable(take(waitNanos(wait), true)).map(this::lease);
    }

    private @Nullable Hold takeUninterruptibly(long waitNanos) {
        try {
            return take(waitNanos, false);
        } catch (InterruptedException e) {
            throw new AssertionError("uninterruptible", e);
        }
    }

    /** The one way in for threads. Null if somebody else holds the lock and the time is up. */
    private @Nullable Hold take(long waitNanos, boolean interruptible) throws InterruptedException {
        Observation observed = Observation.start(client.events().observers(), this, waitNanos, false);
        if (observed == null) {
            return take(waitNanos, interruptible, null);
        }
        Hold hold;
        try {
            hold = take(waitNanos, interruptible, observed);
        } catch (InterruptedException | RuntimeException | Error e) {
            observed.failed(e);
            throw e;
        }
        if (hold == null) {
            observed.refused();
        } else {
            observed.acquired(hold);
        }
        return hold;
    }

    private @Nullable Hold take(long waitNanos, boolean interruptible, @Nullable Observation observed)
            throws InterruptedException {
        if (interruptible && Thread.interrupted()) {
            throw new InterruptedException("Interrupted before taking lock '" + name + "'");
        }
        Turnstile turnstile = turnstile();
        Thread thread = Thread.currentThread();
        if (mode == LockMode.EXCLUSIVE) {
            Hold own = turnstile.reentered(thread, options);
            if (own != null && own.isValid(client.nanoTime())) {
                return own;
            }
        }
        Entry entry = enter(turnstile, Call.of(thread, mode, options, waitNanos, client));
        return entry instanceof Waiter waiter ? await(waiter, interruptible, observed) : (Hold) entry;
    }

    private @Nullable Hold await(Waiter waiter, boolean interruptible, @Nullable Observation observed)
            throws InterruptedException {
        Result result = waiter.result();
        if (result == null) {
            if (observed != null) {
                observed.waiting();
            }
            result = new ThreadWait(waiter).await(interruptible);
        }
        if (result instanceof Result.Failed failed) {
            throw failed.exception().get();
        }
        return result instanceof Result.Held held ? held.hold() : null;
    }

    private Entry enter(Turnstile turnstile, Call call) {
        Turnstile asked = turnstile;
        Entry entry = asked.enter(call);
        while (entry == null) {
            asked = client.turnstile(name);
            recent = asked;
            entry = asked.enter(call);
        }
        return entry;
    }

    private Turnstile turnstile() {
        Turnstile known = recent;
        if (known == null) {
            known = client.turnstile(name);
            recent = known;
        }
        return known;
    }

    // ---------------------------------------------------------------- taking without a thread

    @Override
    public CompletableFuture<Lease> acquireAsync() {
        Throwable place = holds.place();
        return takeAsync(Call.FOREVER, hold -> asyncLease(require(hold), place));
    }

    @Override
    public CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration wait) {
        Throwable place = holds.place();
        return takeAsync(waitNanos(wait), hold -> Optional.ofNullable(hold).map(held -> asyncLease(held, place)));
    }

    /**
     * The one way in without a thread. Whoever completes the future first decides: a result that finds it cancelled is
     * given back.
     */
    private <T> CompletableFuture<T> takeAsync(long waitNanos, Function<@Nullable Hold, T> convert) {
        CompletableFuture<T> future = new CompletableFuture<>();
        Observation observed = Observation.start(client.events().observers(), this, waitNanos, true);
        AsyncCall<T> call = new AsyncCall<>(future, convert, observed);
        Waiter waiter;
        try {
            // Without a thread there is no hold at once: the result comes by the call.
            waiter =
                    (Waiter) enter(turnstile(), Call.async(CallerContext.carry(call), asker, mode, options, waitNanos));
        } catch (RuntimeException e) {
            if (observed != null) {
                observed.failed(e);
            }
            if (e instanceof IllegalStateException) {
                throw e; // closed: told at once, as by every other call
            }
            future.completeExceptionally(e);
            return future;
        }
        if (waiter.result() == null) {
            if (observed != null) {
                observed.waiting();
            }
            AsyncCall.endInTime(waiter, client, future);
        }
        future.whenComplete((done, error) -> {
            if (error != null) {
                waiter.giveUp();
            }
        });
        return future;
    }

    // ---------------------------------------------------------------- giving back

    @Override
    public void unlock() {
        Hold hold = turnstile().holdOf(Thread.currentThread(), mode);
        if (hold == null || hold.locks() == 0) {
            hold = current(hold);
        }
        Releases.giveBack(hold, false, client);
    }

    /** The thread's hold, if the turnstile that this object knows has been retired meanwhile. */
    private Hold current(@Nullable Hold known) {
        Turnstile turnstile = client.turnstile(name);
        recent = turnstile;
        Hold hold = turnstile.holdOf(Thread.currentThread(), mode);
        if (hold != null && hold.locks() > 0) {
            return hold;
        }
        throw new IllegalMonitorStateException(
                known == null && hold == null
                        ? "Lock '" + name + "' is not held by thread "
                                + Thread.currentThread().getName() + "."
                        : "Lock '" + name + "' is held by this thread through a lease: close the lease instead.");
    }

    // ---------------------------------------------------------------- asking

    /** Whether the calling thread has a hold by {@code lock()} to give back, lost or not. */
    boolean canUnlock() {
        Hold hold = client.turnstile(name).holdOf(Thread.currentThread(), mode);
        return hold != null && hold.locks() > 0;
    }

    @Override
    public Optional<Lease> currentLease() {
        Hold hold = client.turnstile(name).holdOf(Thread.currentThread(), mode);
        return hold == null ? Optional.empty() : Optional.of(new ShownLease(new HoldLease(hold)));
    }

    @Override
    public boolean isHeldByCurrentThread() {
        return holdCount() > 0;
    }

    @Override
    public int holdCount() {
        Hold hold = client.turnstile(name).holdOf(Thread.currentThread(), mode);
        return hold != null && hold.isValid(client.nanoTime()) ? hold.count() : 0;
    }

    @Override
    public String toString() {
        return "DistributedLock[" + name + ", " + mode + "]";
    }

    private static Hold require(@Nullable Hold hold) {
        return Objects.requireNonNull(hold, "an unbounded wait ends with a hold or an exception");
    }

    private boolean counted(@Nullable Hold hold) {
        if (hold == null) {
            return false;
        }
        place(hold);
        hold.countLock();
        return true;
    }

    private Lease lease(Hold hold) {
        place(hold);
        hold.countLease();
        return new HoldLease(hold);
    }

    /** A lease that belongs to no thread: it is noticed if nobody can reach it any more. */
    private Lease asyncLease(Hold hold, @Nullable Throwable place) {
        if (place != null) {
            hold.acquiredAt(place);
        }
        hold.countLease();
        HoldLease lease = new HoldLease(hold);
        holds.watch(lease, hold);
        return lease;
    }

    /** Remembers where a hold began, if the client looks for leaks. */
    private void place(Hold hold) {
        Throwable place = hold.count() == 0 ? holds.place() : null;
        if (place != null) {
            hold.acquiredAt(place);
        }
    }

    /** A wait that nobody lives to see the end of has none: an outage ends it, as it ends {@link #lock()}. */
    private static long waitNanos(Duration wait) {
        long nanos = Durations.waitNanos(wait);
        return nanos == LONGEST ? Call.FOREVER : nanos;
    }
}
