package dev.lockstep.internal;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockMode;
import dev.lockstep.LockOptions;
import dev.lockstep.spi.Durations;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Scheduler;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A lock of one name: the plain or write lock, or the read lock. All that waits or decides is in the turnstile. */
final class TurnstileLock implements DistributedLock {
    private static final long FOREVER = -1;
    private static final long NOT_AT_ALL = 0;
    private static final long LONGEST = Durations.LONGEST_LIMIT.toNanos();

    private final Client client;
    private final String name;
    private final LockMode mode;
    private final LockOptions options;

    /** The turnstile last used; may have been retired since. A race here only costs a look-up. */
    private @Nullable Turnstile recent;

    TurnstileLock(Client client, String name, LockMode mode, LockOptions options) {
        this.client = client;
        this.name = name;
        this.mode = mode;
        this.options = Objects.requireNonNull(options, "options");
    }

    @Override
    public String name() {
        return name;
    }

    // ---------------------------------------------------------------- taking

    @Override
    public void lock() {
        try {
            counted(require(take(FOREVER, false)));
        } catch (InterruptedException e) {
            throw new AssertionError("uninterruptible", e);
        }
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        counted(require(take(FOREVER, true)));
    }

    @Override
    public boolean tryLock() {
        return counted(tryTake());
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
        return counted(take(waitNanos(Duration.ofNanos(unit.toNanos(time))), true));
    }

    @Override
    public Lease acquire() throws InterruptedException {
        return lease(require(take(FOREVER, true)));
    }

    @Override
    public Optional<Lease> tryAcquire() {
        return Optional.ofNullable(tryTake()).map(this::lease);
    }

    @Override
    public Optional<Lease> tryAcquire(Duration wait) throws InterruptedException {
        return Optional.ofNullable(take(waitNanos(wait), true)).map(this::lease);
    }

    private @Nullable Hold tryTake() {
        try {
            return take(NOT_AT_ALL, false);
        } catch (InterruptedException e) {
            throw new AssertionError("uninterruptible", e);
        }
    }

    /** The one way in for threads. Null if somebody else holds the lock and the time is up. */
    private @Nullable Hold take(long waitNanos, boolean interruptible) throws InterruptedException {
        if (interruptible && Thread.interrupted()) {
            throw new InterruptedException("Interrupted before taking lock '" + name + "'");
        }
        Turnstile turnstile = turnstile();
        if (mode == LockMode.EXCLUSIVE) {
            Hold own = turnstile.reentered(Thread.currentThread(), options);
            if (own != null && own.isValid(client.nanoTime())) {
                return own;
            }
        }
        boolean mayWait = waitNanos != NOT_AT_ALL;
        Duration block = client.requestTimeout(); // also for a shorter wait, so that a healthy engine gives an answer
        Object entered =
                mode == LockMode.EXCLUSIVE ? turnstile.enterFast(options, mayWait, isTimed(waitNanos), block) : null;
        if (entered instanceof Hold hold) {
            return hold;
        }
        Waiter waiter;
        if (entered instanceof Waiter late) {
            waiter = late;
        } else {
            long now = client.nanoTime();
            waiter = new Waiter(mode, options, now, mayWait, isTimed(waitNanos), block, Thread.currentThread(), null);
            turnstile = enter(turnstile, waiter);
        }
        Object result = waiter.result;
        if (result == null) {
            long bound = mayWait ? waitNanos : client.requestTimeoutNanos();
            result = turnstile.await(waiter, waitNanos != FOREVER, bound, interruptible);
        }
        if (result instanceof Hold hold) {
            return hold;
        }
        RuntimeException failure = failure(result);
        if (failure != null) {
            throw failure;
        }
        return null;
    }

    /** What a result that is no hold means: an exception, or null for "held by somebody else". */
    private static @Nullable RuntimeException failure(@Nullable Object result) {
        return result instanceof Waiter.Failure failure ? failure.toException() : null;
    }

    /** Whether only its own deadline ends a wait while the engine is away. */
    private boolean isTimed(long waitNanos) {
        return waitNanos != FOREVER && !client.timedCallsFailFast();
    }

    private Turnstile enter(Turnstile turnstile, Waiter waiter) {
        Turnstile entered = turnstile;
        while (!entered.enter(waiter)) {
            entered = client.turnstile(name);
            recent = entered;
        }
        return entered;
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
        Throwable place = client.holds().place();
        return takeAsync(FOREVER, hold -> asyncLease(require(hold), place));
    }

    @Override
    public CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration wait) {
        Throwable place = client.holds().place();
        return takeAsync(waitNanos(wait), hold -> Optional.ofNullable(hold).map(held -> asyncLease(held, place)));
    }

    /**
     * The one way in without a thread. Whoever completes the future first decides: a result that finds it cancelled is
     * given back.
     */
    private <T> CompletableFuture<T> takeAsync(long waitNanos, Function<@Nullable Hold, T> convert) {
        CompletableFuture<T> future = new CompletableFuture<>();
        boolean mayWait = waitNanos != NOT_AT_ALL;
        AsyncCall<T> call = new AsyncCall<>(future, convert);
        Waiter waiter = new Waiter(
                mode, options, client.nanoTime(), mayWait, isTimed(waitNanos), LockBackend.DO_NOT_BLOCK, null, call);
        Turnstile turnstile;
        try {
            turnstile = enter(turnstile(), waiter);
        } catch (IllegalStateException e) {
            throw e; // closed: told at once, as by every other call
        } catch (RuntimeException e) {
            future.completeExceptionally(e);
            return future;
        }
        if (waitNanos != FOREVER && waiter.result == null) {
            Deadline deadline = new Deadline(client, turnstile, waiter);
            deadline.in(mayWait ? waitNanos : client.requestTimeoutNanos());
            future.whenComplete((done, error) -> deadline.cancel());
        }
        future.whenComplete((done, error) -> {
            if (error != null) {
                turnstile.giveUp(waiter);
            }
        });
        return future;
    }

    /** Ends an asynchronous call when its time is up. */
    private static final class Deadline {
        private final Client client;
        private final Turnstile turnstile;
        private final Waiter waiter;
        private volatile Scheduler.@Nullable Timer timer;
        private volatile boolean cancelled;

        Deadline(Client client, Turnstile turnstile, Waiter waiter) {
            this.client = client;
            this.turnstile = turnstile;
            this.waiter = waiter;
        }

        void in(long nanos) {
            timer = client.scheduler().schedule(nanos, () -> {
                if (!cancelled && !turnstile.timeUp(waiter)) {
                    in(Turnstile.LOOK_AGAIN_NANOS);
                }
            });
        }

        void cancel() {
            cancelled = true;
            Scheduler.Timer set = timer;
            if (set != null) {
                set.cancel();
            }
        }
    }

    private static final class AsyncCall<T> implements BiConsumer<@Nullable Hold, @Nullable Throwable> {
        private final Function<@Nullable Hold, T> convert;

        /** Null once it is completed: the claim may keep this call for as long as the lock is held, but not the lease. */
        private volatile @Nullable CompletableFuture<T> future;

        AsyncCall(CompletableFuture<T> future, Function<@Nullable Hold, T> convert) {
            this.future = future;
            this.convert = convert;
        }

        @Override
        public void accept(@Nullable Hold hold, @Nullable Throwable error) {
            CompletableFuture<T> waiting = future;
            future = null;
            if (waiting == null) {
                throw new IllegalStateException("A call has one result.");
            }
            if (error != null) {
                waiting.completeExceptionally(error);
            } else if (waiting.isDone() || !waiting.complete(convert.apply(hold))) {
                if (hold != null) {
                    Releases.drop(hold);
                }
            }
        }
    }

    // ---------------------------------------------------------------- giving back

    @Override
    public void unlock() {
        Hold hold = turnstile().holdOf(Thread.currentThread(), mode);
        if (hold == null || hold.locks == 0) {
            hold = current(hold);
        }
        Releases.giveBack(hold, false, client);
    }

    /** The thread's hold, if the turnstile that this object knows has been retired meanwhile. */
    private Hold current(@Nullable Hold known) {
        Turnstile turnstile = client.turnstile(name);
        recent = turnstile;
        Hold hold = turnstile.holdOf(Thread.currentThread(), mode);
        if (hold != null && hold.locks > 0) {
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
        return hold != null && hold.locks > 0;
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
        hold.locks++;
        return true;
    }

    private Lease lease(Hold hold) {
        place(hold);
        hold.leases++;
        return new HoldLease(hold);
    }

    /** A lease that belongs to no thread: it is noticed if nobody can reach it any more. */
    private Lease asyncLease(Hold hold, @Nullable Throwable place) {
        if (place != null) {
            hold.place = place;
        }
        hold.leases++;
        HoldLease lease = new HoldLease(hold);
        client.holds().watch(lease, hold);
        return lease;
    }

    /** Remembers where a hold began, if the client looks for leaks. */
    private void place(Hold hold) {
        HoldWatch holds = client.holds();
        if (holds.keepsPlaces() && hold.count() == 0) {
            hold.place = holds.place();
        }
    }

    /** A wait that nobody lives to see the end of has none: an outage ends it, as it ends {@link #lock()}. */
    private static long waitNanos(Duration wait) {
        long nanos = Durations.waitNanos(wait);
        return nanos == LONGEST ? FOREVER : nanos;
    }
}
