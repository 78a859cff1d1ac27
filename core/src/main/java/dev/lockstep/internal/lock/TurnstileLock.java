package dev.lockstep.internal.lock;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockMode;
import dev.lockstep.LockOptions;
import dev.lockstep.internal.concurrent.CallerContext;
import dev.lockstep.internal.concurrent.ThreadName;
import dev.lockstep.internal.turnstile.Call;
import dev.lockstep.internal.turnstile.ClaimBatch;
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
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A lock of one name: the plain or write lock, or the read lock. All waiting and deciding is in the turnstile. */
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
     * @param asker replaces the name of the calling thread; null to use that name
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
        counted(require(takeUninterruptibly(Call.NO_LIMIT)));
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        counted(require(take(Call.NO_LIMIT, true)));
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
        return lease(require(take(Call.NO_LIMIT, true)));
    }

    @Override
    public Lease acquireUninterruptibly() {
        return lease(require(takeUninterruptibly(Call.NO_LIMIT)));
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

    /** The only entry for threads. Null if another caller holds the lock and the time is up. */
    private @Nullable Hold take(long waitNanos, boolean interruptible) throws InterruptedException {
        return take(waitNanos, interruptible, observe(waitNanos, false));
    }

    /** A call starts. Null if nobody observes. */
    @Nullable
    Observation observe(long waitNanos, boolean async) {
        return Observation.start(client.events().observers(), this, waitNanos, async);
    }

    /** Acquires the lock in a call that may be observed, whose end is reported here. */
    @Nullable
    Hold take(long waitNanos, boolean interruptible, @Nullable Observation observed) throws InterruptedException {
        if (observed == null) {
            return enterAndWait(waitNanos, interruptible, null);
        }
        Hold hold;
        try {
            hold = enterAndWait(waitNanos, interruptible, observed);
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

    private @Nullable Hold enterAndWait(long waitNanos, boolean interruptible, @Nullable Observation observed)
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
                observed.mayWait(waiter);
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
        return takeAsync(Call.NO_LIMIT, observe(Call.NO_LIMIT, true), hold -> asyncLease(require(hold), place));
    }

    @Override
    public CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration wait) {
        long nanos = waitNanos(wait);
        Throwable place = holds.place();
        return takeAsync(
                nanos,
                observe(nanos, true),
                hold -> Optional.ofNullable(hold).<Lease>map(held -> asyncLease(held, place)));
    }

    /** Acquires the lock in an asynchronous call that may be observed, as a part of several. */
    CompletableFuture<Optional<HoldLease>> takeAsync(
            long waitNanos, @Nullable Observation observed, @Nullable Throwable place) {
        return takeAsync(waitNanos, observed, hold -> Optional.ofNullable(hold).map(held -> asyncLease(held, place)));
    }

    /** Whether an election asks for the lock. */
    boolean isOfElection() {
        return asker != null;
    }

    /** The calling thread as others see it. */
    private ThreadName threadName() {
        return asker == null ? ThreadName.current() : ThreadName.ofText(asker);
    }

    /** The only entry without a thread. It returns no hold: the call receives the result later. */
    private <T> CompletableFuture<T> takeAsync(
            long waitNanos, @Nullable Observation observed, Function<@Nullable Hold, T> convert) {
        return AsyncCall.start(client, observed, convert, call -> (Waiter)
                enter(turnstile(), Call.async(CallerContext.carry(call), threadName(), mode, options, waitNanos)));
    }

    // ---------------------------------------------------------------- taking together with others

    /**
     * Lets a call that does not wait claim this lock together with others.
     *
     * @param callback hears the result of an asynchronous call; null for a call of this thread
     * @return false if the lock must be taken alone
     */
    boolean joins(ClaimBatch batch, @Nullable Consumer<Result> callback) {
        Call call = callback == null
                ? Call.of(Thread.currentThread(), mode, options, Call.NOT_AT_ALL, client)
                : Call.async(callback, threadName(), mode, options, Call.NOT_AT_ALL);
        return batch.add(client.turnstile(name), call);
    }

    /** Where a call of several locks began; null unless the client looks for leaks. */
    @Nullable
    Throwable place() {
        return holds.place();
    }

    /** Counts a hold that this thread has taken. */
    void count(Hold hold, Releases.Part part) {
        place(hold);
        if (part == Releases.Part.LOCK) {
            hold.countLock();
        } else {
            hold.countLease();
        }
    }

    // ---------------------------------------------------------------- releasing

    @Override
    public void unlock() {
        Releases.release(unlockable(), Releases.Part.LOCK, client);
    }

    /** The hold of the calling thread that {@link #unlock()} releases. */
    Hold unlockable() {
        Hold hold = turnstile().holdOf(Thread.currentThread(), mode);
        return hold == null || hold.locks() == 0 ? current(hold) : hold;
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

    /** Whether the calling thread has a hold by {@code lock()} to release, lost or not. */
    boolean canUnlock() {
        return currentHold().filter(hold -> hold.locks() > 0).isPresent();
    }

    @Override
    public Optional<Lease> currentLease() {
        return currentHold().map(hold -> new ShownLease(new HoldLease(hold)));
    }

    /** The hold of the calling thread, lost or not. */
    Optional<Hold> currentHold() {
        return Optional.ofNullable(client.turnstile(name).holdOf(Thread.currentThread(), mode));
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
        count(hold, Releases.Part.LOCK);
        return true;
    }

    private Lease lease(Hold hold) {
        count(hold, Releases.Part.LEASE);
        return new HoldLease(hold);
    }

    /** A lease that belongs to no thread: the client notices if it becomes unreachable. */
    HoldLease asyncLease(Hold hold, @Nullable Throwable place) {
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

    /** A wait of a hundred years or more has no limit: an outage ends it, as it ends {@link #lock()}. */
    static long waitNanos(Duration wait) {
        long nanos = Durations.waitNanos(wait);
        return nanos == LONGEST ? Call.NO_LIMIT : nanos;
    }
}
