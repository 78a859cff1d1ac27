package dev.lockstep.internal;

import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockLostException;
import dev.lockstep.LockMode;
import dev.lockstep.LockOptions;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.LossReason;
import dev.lockstep.internal.Passage.State;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.Grant;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Outcome;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Turns the threads of one client that want one lock into few claims at the engine. One for each name in use.
 *
 * <p>Safe for use by many threads.
 */
final class Turnstile {
    /*
     * Overview
     *
     * A call arrives as a Waiter. If a grant that is here already can serve it, it becomes a Hold at once. Otherwise it
     * stands in the local queue, and the turnstile has one claim at the engine for whoever is first: the claim is the
     * turnstile's, so it keeps its place in the engine's queue when the call that caused it gives up. A claim's way
     * through the engine is a Passage; its states and their order are in Passage.State.
     *
     *    Waiter ──enter──▶ queue ──serve──▶ Hold ──release──▶ (next waiter | engine)
     *                        │                ▲
     *                      claim ─▶ Passage ─grant
     *
     * Fair locks have no local order: each call has its own claim and waits for its own grant, so that the engine's
     * order is the order. So has a call that may not wait, since only the engine knows the answer.
     *
     * Hand-off. When a hold ends and a waiter is there, the grant stays: freely while no other client wants it; up to
     * a number of times, or 10 ms, once one does. A woken thread needs a while to run, so an idle grant is offered to
     * the first waiter rather than given to it: a running thread may take it meanwhile ("barge"), at most MAX_BYPASS
     * times; then the first waiter is given it. Without this every hand-off would cost two context switches.
     *
     * Readers. Those at the head of the queue hold together, under one grant. A reader that arrives later joins them
     * unless a writer waits. A grant that only readers use is downgraded, so that other clients' readers can join.
     *
     * Loss. A passage is lost when the engine says so or its deadline passes, whichever is seen first; everything
     * that looks at a hold compares the clock first. All holds on it end with the reason, once. A thread's lost hold
     * is kept until the thread has given it back, so that it can be told.
     *
     * Everything is decided in settle(), under the mutex; what follows from it (I/O, wake-ups, users' code) is
     * collected as effects and done after the mutex is left. The mutex is never held during a call to the backend
     * other than the reading of a grant's fields. No lock is taken inside it but those of queues.
     */

    /** How often the first waiter may be overtaken by threads that happen to run. */
    static final int MAX_BYPASS = 64;

    /** How long a grant may be handed on locally once another client wants it. */
    static final long HAND_OFF_NANOS = 10_000_000;

    private static final Logger log = LoggerFactory.getLogger(Turnstile.class);
    private static final VarHandle WRITER = Handles.of(MethodHandles.lookup(), Turnstile.class, "writer", Hold.class);

    private final Client client;
    private final String name;
    private final long serial;
    private final ReentrantLock mutex = new ReentrantLock();

    /** Calls that wait, in order of arrival. */
    private final Chain<Waiter> queue = new Chain<>();

    private int exclusiveWaiters;

    /** Whether somebody waits, or the end of the last passage is awaited. Read without the mutex by the fast way. */
    private volatile boolean crowded;

    private final Chain<Passage> passages = new Chain<>();

    /** The exclusive hold of a thread. Written under the mutex, read by that thread without. */
    private volatile @Nullable Hold writer;

    private @Nullable Map<Thread, Hold> readers;

    /** Holds that threads lost and have not given back yet. */
    private @Nullable List<Hold> lostHolds;

    private boolean fair;
    private boolean reentrant = true;

    /** The last grant was given back because others want it: the next claim queues behind them. */
    private boolean yields;

    private boolean retired;
    private long claims;
    private @Nullable List<Runnable> effects;
    private @Nullable CompletableFuture<Void> drained;

    Turnstile(Client client, String name, long serial) {
        this.client = client;
        this.name = name;
        this.serial = serial;
    }

    Client client() {
        return client;
    }

    String name() {
        return name;
    }

    String claimId(long number) {
        return client.id() + '.' + Long.toString(serial, 36) + '.' + Long.toString(number, 36);
    }

    // ---------------------------------------------------------------- arriving

    /**
     * Counts up a hold that the calling thread has, without a lock: nobody else counts it.
     *
     * @return null if the slow way must be gone
     */
    @Nullable
    Hold reenter(Thread thread, LockOptions options) {
        Hold own = writer;
        return own != null && own.owner == thread && options.isReentrant() && reentrant && options.isFair() == fair
                ? own
                : null;
    }

    /**
     * Takes the lock exclusively for the calling thread if nobody here uses it and the engine answers inside the call: the
     * fast way, with one turn of the mutex instead of two, and without a waiter.
     *
     * @return a {@link Hold}; or a {@link Waiter} that has entered; or null if something is in the way, and the call must
     *     enter as a waiter
     */
    @Nullable
    Object enterFast(LockOptions options, long now, boolean mayWait, boolean timed, Duration blockAtMost) {
        Thread thread = Thread.currentThread();
        Passage passage = claimFast(options, thread, now, mayWait, blockAtMost);
        if (passage == null) {
            return null;
        }
        Claim claim = null;
        CompletableFuture<Outcome> outcome;
        try {
            claim = client.backend().submit(passage);
            outcome = claim.outcome().toCompletableFuture();
            if (outcome.isDone()
                    && !outcome.isCompletedExceptionally()
                    && outcome.join() instanceof Outcome.Granted granted) {
                Hold hold = takeFast(passage, granted.grant(), options, thread, now);
                if (hold != null) {
                    return hold;
                }
            }
        } catch (RuntimeException | Error e) {
            outcome = CompletableFuture.failedFuture(e);
        }
        Waiter waiter = new Waiter(LockMode.EXCLUSIVE, options, now, mayWait, timed, blockAtMost, null);
        if (enterLate(passage, claim, waiter)) {
            follow(passage, claim, outcome);
        }
        return waiter;
    }

    private @Nullable Passage claimFast(
            LockOptions options, Thread thread, long now, boolean mayWait, Duration blockAtMost) {
        mutex.lock();
        try {
            purge();
            if (retired
                    || fair
                    || options.isFair()
                    || options.isReentrant() != reentrant
                    || lostHolds != null
                    || !passages.isEmpty()
                    || !queue.isEmpty()) {
                return null;
            }
            client.ensureOpen();
            Passage passage = claim(LockMode.EXCLUSIVE, mayWait, !yields, blockAtMost, now, thread.getName(), null);
            passage.inline = true;
            yields = false;
            return passage;
        } finally {
            mutex.unlock();
        }
    }

    /** Makes a hold of a grant that came at once. Null if the client was closed meanwhile, or somebody listens. */
    private @Nullable Hold takeFast(Passage passage, Grant grant, LockOptions options, Thread thread, long now) {
        if (client.events().isHeard()) {
            return null;
        }
        Hold hold = new Hold(this, passage, LockMode.EXCLUSIVE, options, thread, now);
        passage.grant = grant;
        passage.add(hold);
        WRITER.setRelease(this, hold);
        if (!passage.endClaiming(State.HELD)) {
            WRITER.setRelease(this, null);
            passage.holds.remove(hold);
            return null;
        }
        client.watchDeadline(hold.deadlineNanos());
        LossReason told = passage.toldLoss();
        if (told != null) {
            lost(passage, grant, told); // it was told while the passage was not held yet, and so was not heard
        }
        return hold;
    }

    /** Lets a call in as a waiter after its claim was submitted. False if the client was closed meanwhile. */
    private boolean enterLate(Passage passage, @Nullable Claim claim, Waiter waiter) {
        mutex.lock();
        try {
            passage.inline = false;
            if (!passage.isClaiming()) {
                waiter.finish(client.closedWhileWaiting(name));
                passage.claim = claim;
                if (claim == null) {
                    end(passage);
                    settle(client.nanoTime(), null, null);
                } else {
                    later(() -> takeBack(passage, claim));
                }
                return false;
            }
            if (waiter.mayWait) {
                queue.addFirst(waiter);
                queued(waiter);
            } else {
                passage.only = waiter;
                waiter.passage = passage;
            }
            return true;
        } finally {
            leave();
        }
    }

    /**
     * Lets a call in, or makes it wait.
     *
     * @return false if this turnstile has been retired, and the call must find its successor
     */
    boolean enter(Waiter waiter) {
        Passage mine;
        mutex.lock();
        try {
            if (retired) {
                return false;
            }
            mine = admit(waiter);
        } finally {
            leave();
        }
        if (mine != null) {
            submit(mine);
        }
        return true;
    }

    /** Gives a call its hold or its answer, or queues it. Returns the claim that the caller is to submit. */
    private @Nullable Passage admit(Waiter waiter) {
        client.ensureOpen();
        purge();
        adopt(waiter.options);
        long now = waiter.startNanos;
        if (waiter.thread != null && admitOwner(waiter, waiter.thread, now)) {
            return null;
        }
        if (fair) {
            if (waiter.mayWait) {
                queueAdd(waiter);
            }
            return claimFor(waiter, false);
        }
        for (Passage passage = passages.first(); passage != null; passage = passage.next) {
            if (passage.isHeld() && !loseIfPast(passage, now) && mayJoin(passage, waiter, now)) {
                if (queue.first() != null && passage.holds.isEmpty()) {
                    queue.first().bypassed++;
                }
                assign(passage, waiter, now);
                return null;
            }
        }
        if (waiter.mayWait) {
            queueAdd(waiter);
            return claimIfNeeded(waiter.blockAtMost, now);
        }
        if (heldAgainst(waiter)) {
            finish(waiter, Waiter.BUSY);
            return null;
        }
        return claimFor(waiter, !yields);
    }

    /** Fairness and reentrancy are the name's while it is in use. */
    private void adopt(LockOptions options) {
        if (fair == options.isFair() && reentrant == options.isReentrant()) {
            return;
        }
        if (!isIdle()) {
            throw new LockConfigurationException(
                    name,
                    "Lock '" + name + "' is in use as " + (fair ? "fair" : "unfair") + ", "
                            + (reentrant ? "reentrant" : "non-reentrant") + " and cannot be used with " + options
                            + " meanwhile. Use the same options for a name everywhere.");
        }
        fair = options.isFair();
        reentrant = options.isReentrant();
    }

    /** Re-entry, downgrade and self-deadlock: what depends on the thread's own holds. True if that settled it. */
    private boolean admitOwner(Waiter waiter, Thread thread, long now) {
        Hold written = writer != null && writer.owner == thread ? writer : null;
        Hold read = readers == null ? null : readers.get(thread);
        if (written == null && read == null && lostHolds == null) {
            return false;
        }
        Hold own = written != null ? written : read;
        if (own != null && now - own.deadlineNanos() >= 0) {
            loseWhatIsPast(now);
        }
        Hold lost = lostHold(thread, null);
        if (lost != null) {
            throw lost.lostException();
        }
        if (own == null) {
            return false;
        }
        Hold same = waiter.mode == LockMode.EXCLUSIVE ? written : read;
        if (reentrant && same != null) {
            waiter.finish(same);
        } else if (reentrant && written != null) {
            assign(written.passage, waiter, now);
        } else if (waiter.mayWait && !waiter.timed) {
            throw new LockConfigurationException(
                    name,
                    reentrant
                            ? "Lock '" + name + "': this thread holds the read lock and cannot take the write lock; it"
                                    + " would wait for itself. Give the read lock back first."
                            : "Lock '" + name + "' is not reentrant and this thread holds it already; it would wait for"
                                    + " itself.");
        } else {
            waiter.finish(Waiter.BUSY);
        }
        return true;
    }

    /** Whether a call that just arrived may use a grant that is here: join readers, or barge on an idle grant. */
    private boolean mayJoin(Passage passage, Waiter waiter, long now) {
        Waiter first = queue.first();
        boolean free = passage.holds.isEmpty() ? first == null || first.bypassed < MAX_BYPASS : exclusiveWaiters == 0;
        return free && fits(passage, waiter.mode) && mayHandOff(passage, waiter, now);
    }

    private static boolean fits(Passage passage, LockMode mode) {
        if (mode == LockMode.SHARED) {
            return passage.writer() == null;
        }
        return passage.mode == LockMode.EXCLUSIVE
                && passage.holds.isEmpty()
                && (passage.downgrade == null || passage.downgrade.isDone());
    }

    /** Whether a call that may not wait can be answered from here: another local hold stands against it. */
    private boolean heldAgainst(Waiter waiter) {
        for (Passage passage = passages.first(); passage != null; passage = passage.next) {
            if (passage.isHeld()
                    && (waiter.mode == LockMode.EXCLUSIVE || passage.writer() != null || exclusiveWaiters > 0)) {
                return true;
            }
        }
        return false;
    }

    // ---------------------------------------------------------------- waiting

    /**
     * Waits, in the calling thread, for the result of a call that has entered.
     *
     * <pre>
     *   until there is a result:
     *     take what is offered
     *     if interrupted, or the time is up: give up, unless the result came first
     *     park
     * </pre>
     *
     * @param waitNanos how long from the waiter's start; ignored unless {@code bounded}
     * @return the result; {@link Waiter#GAVE_UP} if the time is up
     */
    Object await(Waiter waiter, boolean bounded, long waitNanos, boolean interruptible) throws InterruptedException {
        // Before the loop: what may block inside it would swallow the wake-up between the look at the result and the
        // park.
        client.watchOutage();
        boolean interrupted = false;
        try {
            while (true) {
                Object result = waiter.result;
                if (result != null) {
                    return result;
                }
                if (waiter.offered) {
                    takeOffer(waiter);
                    continue;
                }
                if (interruptible && Thread.interrupted()) {
                    if (giveUp(waiter)) {
                        throw new InterruptedException("Interrupted while waiting for lock '" + name + "'");
                    }
                    interrupted = true;
                    continue;
                }
                if (bounded) {
                    long left = waitNanos - (client.nanoTime() - waiter.startNanos);
                    if (left <= 0) {
                        giveUp(waiter);
                        continue;
                    }
                    LockSupport.parkNanos(this, left);
                } else {
                    LockSupport.park(this);
                }
                if (!interruptible && Thread.interrupted()) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void takeOffer(Waiter waiter) {
        mutex.lock();
        try {
            waiter.offered = false;
            if (waiter.result == null) {
                settle(client.nanoTime(), waiter, null);
            }
        } finally {
            leave();
        }
    }

    /** Ends a wait without a hold. False if the result came first. */
    boolean giveUp(Waiter waiter) {
        mutex.lock();
        try {
            if (waiter.result != null) {
                return false;
            }
            waiter.finish(Waiter.GAVE_UP);
            abandon(waiter);
            settle(client.nanoTime(), null, null);
            return true;
        } finally {
            leave();
        }
    }

    /** Whether the lock was known to be held by somebody else when a call's time was up. */
    boolean knownHeld(Waiter waiter, long now) {
        long contact = client.backend().lastContactNanos();
        if (contact - waiter.startNanos >= 0) {
            return true;
        }
        mutex.lock();
        try {
            boolean recent = now - contact <= client.requestTimeoutNanos();
            for (Passage passage = passages.first(); passage != null; passage = passage.next) {
                if (passage.isHeld() && now - passage.heldGrant().validUntilNanos() < 0
                        || passage.isClaiming() && recent && contact - passage.sentNanos() >= 0) {
                    return true;
                }
            }
            return false;
        } finally {
            mutex.unlock();
        }
    }

    /** Ends the waits without a deadline of their own that have seen no contact for the request timeout. */
    boolean checkOutage(long now, long lastContact) {
        mutex.lock();
        try {
            Waiter next;
            for (Waiter waiter = queue.first(); waiter != null; waiter = next) {
                next = waiter.next;
                long since = lastContact - waiter.startNanos > 0 ? lastContact : waiter.startNanos;
                if (!waiter.timed && now - since >= client.requestTimeoutNanos()) {
                    abandon(waiter);
                    finish(waiter, client.unavailable(name, now - since));
                }
            }
            settle(now, null, null);
            return !queue.isEmpty();
        } finally {
            leave();
        }
    }

    // ---------------------------------------------------------------- deciding

    /**
     * Decides what happens next. Called after everything that changed something.
     *
     * <pre>
     *   for each grant:
     *     past its deadline: it is lost
     *     let the waiters at the head of the queue use it, as far as they may
     *     nobody uses it: give it back
     *   waiters are left whom nothing here will serve: claim for the first
     *   a claim that no waiter needs any longer: withdraw it
     * </pre>
     *
     * @param taker the waiter whose own thread calls, which can take an offer at once
     * @param mine the passage that the caller itself gives back if it is to be given back
     */
    private void settle(long now, @Nullable Waiter taker, @Nullable Passage mine) {
        Passage next;
        for (Passage passage = passages.first(); passage != null; passage = next) {
            next = passage.next;
            if (passage.state() == State.GONE) {
                passages.remove(passage);
            } else if (passage.isHeld() && !loseIfPast(passage, now) && !serve(passage, now, taker)) {
                beginRelease(passage, passage != mine);
            }
        }
        Passage claim = claimIfNeeded(LockBackend.DO_NOT_BLOCK, now);
        if (claim != null) {
            later(() -> submit(claim));
        }
        for (Passage passage = passages.first(); passage != null; passage = passage.next) {
            if (passage.isClaiming() && passage.only == null && !passage.inline && firstOf(passage.mode) == null) {
                withdraw(passage);
            }
        }
        if (drained != null && passages.isEmpty()) {
            CompletableFuture<Void> done = drained;
            later(() -> done.complete(null));
        }
    }

    private void beginRelease(Passage passage, boolean inBackground) {
        passage.transitionTo(State.RELEASING);
        yields |= passage.budgeted || passage.isWanted();
        if (inBackground) {
            later(() -> giveBack(passage, LockBackend.DO_NOT_BLOCK));
        }
    }

    /** Lets waiters use a grant. False if nobody does, and nobody is about to. */
    private boolean serve(Passage passage, long now, @Nullable Waiter taker) {
        if (!fair) {
            for (Waiter first = queue.first(); first != null; first = queue.first()) {
                if (!fits(passage, first.mode) || !mayHandOff(passage, first, now)) {
                    break;
                }
                Thread thread = first.thread;
                if (thread != null
                        && first != taker
                        && first.mode == LockMode.EXCLUSIVE
                        && first.bypassed < MAX_BYPASS) {
                    if (!first.offered) {
                        first.offered = true;
                        later(() -> LockSupport.unpark(thread));
                    }
                    return true;
                }
                queueRemove(first);
                assign(passage, first, now);
            }
        }
        return !passage.holds.isEmpty();
    }

    /** Whether a grant may go to one more local hold without asking the engine. */
    private boolean mayHandOff(Passage passage, Waiter waiter, long now) {
        if (!passage.used) {
            return true;
        }
        if (!passage.hasTokensLeft()) {
            return false;
        }
        if (!passage.budgeted) {
            if (client.traits().tellsWanted() && !passage.isWanted()) {
                return true;
            }
            passage.budgeted = true;
            passage.budgetNanos = now;
            passage.handOffs = 0;
        }
        return passage.handOffs < waiter.options.handOff() && now - passage.budgetNanos < HAND_OFF_NANOS;
    }

    private void assign(Passage passage, Waiter waiter, long now) {
        if (passage.state() == State.RETAINED) {
            passage.transitionTo(State.HELD);
        }
        if (passage.used) {
            passage.handOffs++;
            client.events().handedOff(name, waiter.mode);
        }
        Hold hold = new Hold(this, passage, waiter.mode, waiter.options, waiter.thread, now);
        passage.add(hold);
        if (waiter.mode == LockMode.EXCLUSIVE) {
            passage.downgrade = null;
        } else if (passage.writer() == null) {
            downgrade(passage);
        }
        if (waiter.thread != null) {
            if (waiter.mode == LockMode.EXCLUSIVE) {
                WRITER.setRelease(this, hold); // the mutex publishes it; its own thread needs no fence
            } else {
                if (readers == null) {
                    readers = new IdentityHashMap<>();
                }
                readers.put(waiter.thread, hold);
            }
        }
        client.watchDeadline(hold.deadlineNanos());
        client.events().acquired(name, waiter.mode, now - waiter.startNanos);
        finish(waiter, hold);
    }

    private void finish(Waiter waiter, Object result) {
        waiter.finish(result);
        if (waiter.callback != null) {
            later(() -> client.complete(waiter, result));
        } else if (waiter.thread != Thread.currentThread()) {
            later(() -> LockSupport.unpark(waiter.thread));
        }
    }

    // ---------------------------------------------------------------- claiming

    /** The claim for whoever stands first, unless one is on its way or something here will serve it. */
    private @Nullable Passage claimIfNeeded(Duration blockAtMost, long now) {
        Waiter first = queue.first();
        if (first == null || fair) {
            return null;
        }
        boolean overBudget = false;
        for (Passage passage = passages.first(); passage != null; passage = passage.next) {
            if (passage.waitsForQueue()
                    || passage.state() == State.RELEASING
                    || passage.isHeld() && passage.mode == LockMode.EXCLUSIVE) {
                return null;
            }
            overBudget |= passage.isHeld() && first.mode == LockMode.SHARED;
        }
        boolean barge = !yields && !overBudget;
        yields = false;
        return claim(first.mode, true, barge, blockAtMost, now, first.threadName, null);
    }

    /** A claim that is for one call alone. */
    private Passage claimFor(Waiter waiter, boolean mayBarge) {
        Passage passage = claim(
                waiter.mode,
                waiter.mayWait,
                mayBarge,
                waiter.blockAtMost,
                waiter.startNanos,
                waiter.threadName,
                waiter);
        waiter.passage = passage;
        return passage;
    }

    private Passage claim(
            LockMode mode,
            boolean mayWait,
            boolean mayBarge,
            Duration blockAtMost,
            long now,
            String threadName,
            @Nullable Waiter only) {
        Passage passage = new Passage(this, mode, mayWait, mayBarge, blockAtMost, now, threadName, ++claims, only);
        passages.add(passage);
        return passage;
    }

    private void submit(Passage passage) {
        Claim claim = null;
        CompletableFuture<Outcome> outcome;
        try {
            claim = client.backend().submit(passage);
            outcome = claim.outcome().toCompletableFuture();
        } catch (RuntimeException | Error e) {
            outcome = CompletableFuture.failedFuture(e);
        }
        follow(passage, claim, outcome);
    }

    /** Waits for the answer to a claim that was submitted. */
    private void follow(Passage passage, @Nullable Claim claim, CompletableFuture<Outcome> outcome) {
        if (claim != null && !outcome.isDone()) {
            mutex.lock();
            try {
                passage.claim = claim;
                if (passage.state() == State.WITHDRAWING) {
                    later(() -> takeBack(passage, claim));
                }
            } finally {
                leave();
            }
        }
        outcome.whenComplete((answer, error) -> conclude(passage, claim, answer, error, client.nanoTime()));
    }

    /** The engine has answered a claim, or its outcome is unknown. */
    private void conclude(
            Passage passage, @Nullable Claim claim, @Nullable Outcome outcome, @Nullable Throwable error, long now) {
        mutex.lock();
        try {
            boolean submitted = passage.claim != null;
            passage.claim = claim;
            if (!passage.isClaiming()) {
                if (passage.state() == State.WITHDRAWING && !submitted) {
                    if (claim == null) {
                        end(passage);
                        settle(now, null, null);
                    } else {
                        later(() -> takeBack(passage, claim));
                    }
                }
                return;
            }
            if (outcome instanceof Outcome.Granted granted) {
                granted(passage, granted.grant(), now);
            } else if (outcome instanceof Outcome.Busy && passage.only != null && !passage.mayWait()) {
                end(passage);
                finish(passage.only, Waiter.BUSY);
            } else {
                failed(passage, claim, error);
            }
            settle(now, null, null);
        } finally {
            leave();
        }
    }

    private void granted(Passage passage, Grant grant, long now) {
        passage.grant = grant;
        passage.transitionTo(State.HELD);
        Waiter only = passage.only;
        LossReason told = passage.toldLoss();
        if (told != null) {
            lose(passage, told);
        }
        if (!passage.isHeld() || loseIfPast(passage, now)) {
            if (only != null) {
                if (only.mayWait) {
                    Passage again = claimFor(only, false);
                    later(() -> submit(again));
                } else {
                    finish(only, client.unavailable(name, now - passage.sentNanos()));
                }
            }
            return;
        }
        Waiter first = only != null ? only : firstOf(passage.mode);
        if (first != null && (only != null || first != queue.first() || first.thread == Thread.currentThread())) {
            queueRemove(first);
            assign(passage, first, now);
        }
    }

    /** The backend does not know what became of a claim: take it back, and report. */
    private void failed(Passage passage, @Nullable Claim claim, @Nullable Throwable error) {
        if (claim == null) {
            end(passage);
        } else {
            passage.transitionTo(State.WITHDRAWING);
            later(() -> takeBack(passage, claim));
        }
        Throwable failure = client.failure(name, error);
        if (passage.only != null) {
            queueRemove(passage.only);
            finish(passage.only, failure);
            return;
        }
        Waiter next;
        for (Waiter waiter = queue.first(); waiter != null; waiter = next) {
            next = waiter.next;
            if (waiter.mode == passage.mode) {
                queueRemove(waiter);
                finish(waiter, failure);
            }
        }
    }

    private void withdraw(Passage passage) {
        passage.transitionTo(State.WITHDRAWING);
        Claim claim = passage.claim;
        if (claim != null) {
            later(() -> takeBack(passage, claim));
        }
    }

    private void takeBack(Passage passage, Claim claim) {
        CompletableFuture<Void> withdrawn;
        try {
            withdrawn = claim.withdraw(LockBackend.DO_NOT_BLOCK).toCompletableFuture();
        } catch (RuntimeException | Error e) {
            withdrawn = CompletableFuture.failedFuture(e);
        }
        withdrawn.whenComplete((done, error) -> gone(passage, error));
    }

    /** The engine knows a passage no more. */
    private void gone(Passage passage, @Nullable Throwable error) {
        if (error != null) {
            log.warn("Lock '{}': giving it back was not confirmed; the engine frees it after the ttl", name, error);
        }
        mutex.lock();
        try {
            end(passage);
            if (!queue.isEmpty() || !passages.isEmpty() || drained != null) {
                settle(client.nanoTime(), null, null);
            }
        } finally {
            leave();
        }
    }

    /** Decides anew after something changed without the mutex. */
    private void refresh() {
        mutex.lock();
        try {
            settle(client.nanoTime(), null, null);
        } finally {
            leave();
        }
    }

    private void end(Passage passage) {
        passage.transitionTo(State.GONE);
        passages.remove(passage);
    }

    // ---------------------------------------------------------------- giving back

    /**
     * Ends a hold that its owner has counted down to zero.
     *
     * @return the engine's answer; null if it need not be asked, because the hold shared its grant or handed it on
     * @throws LockLostException if the hold had been lost
     */
    @Nullable
    CompletableFuture<Boolean> release(Hold hold, Duration blockAtMost) {
        Passage passage = hold.passage;
        boolean mine;
        mutex.lock();
        try {
            // With nobody to hand the grant to, the engine's answer tells whether it was ours to the end: no need to
            // look at the clock for that.
            boolean engineTells = queue.isEmpty()
                    && passage.holds.size() == 1
                    && !hold.hasLease
                    && !client.events().isHeard();
            long now = engineTells ? passage.sentNanos() : client.nanoTime();
            if (hold.isOpen() && now - hold.deadlineNanos() >= 0) {
                loseWhatIsPast(now);
            }
            if (!hold.isOpen()) {
                forget(hold);
                throw hold.lostException();
            }
            remove(hold);
            hold.release();
            client.events().released(name, hold.mode, now - hold.sinceNanos);
            if (hold.mode == LockMode.EXCLUSIVE && !passage.holds.isEmpty()) {
                passage.shareTokenOf(hold);
                downgrade(passage);
            }
            boolean held = passage.isHeld();
            settle(now, null, passage);
            mine = held && passage.state() == State.RELEASING;
        } finally {
            leave();
        }
        return mine ? giveBack(passage, blockAtMost) : null;
    }

    private CompletableFuture<Boolean> giveBack(Passage passage, Duration blockAtMost) {
        CompletableFuture<Boolean> downgrade = passage.downgrade;
        CompletableFuture<Boolean> released;
        try {
            released = downgrade == null || downgrade.isDone()
                    ? passage.heldGrant().release(blockAtMost).toCompletableFuture()
                    : downgrade.thenCompose(done -> passage.heldGrant().release(LockBackend.DO_NOT_BLOCK));
        } catch (RuntimeException | Error e) {
            released = CompletableFuture.failedFuture(e);
        }
        if (released.isDone() && !released.isCompletedExceptionally()) {
            passage.markGone();
            if (crowded) {
                refresh();
            }
        } else {
            released.whenComplete((done, error) -> gone(passage, error));
        }
        return released;
    }

    /** Lets other clients' readers in beside the readers that use an exclusive grant. */
    private void downgrade(Passage passage) {
        if (passage.mode != LockMode.EXCLUSIVE || passage.downgrade != null) {
            return;
        }
        CompletableFuture<Boolean> done = new CompletableFuture<>();
        passage.downgrade = done;
        later(() -> {
            CompletableFuture<Boolean> answer;
            try {
                answer = passage.heldGrant().downgrade().toCompletableFuture();
            } catch (RuntimeException | Error e) {
                answer = CompletableFuture.failedFuture(e);
            }
            answer.whenComplete((shared, error) -> downgraded(passage, error == null && shared, done));
        });
    }

    private void downgraded(Passage passage, boolean shared, CompletableFuture<Boolean> done) {
        mutex.lock();
        try {
            if (shared) {
                passage.mode = LockMode.SHARED;
            }
            later(() -> done.complete(shared));
            settle(client.nanoTime(), null, null);
        } finally {
            leave();
        }
    }

    // ---------------------------------------------------------------- losing

    /** The engine says that a grant is gone. */
    void lost(Passage passage, Grant grant, LossReason reason) {
        mutex.lock();
        try {
            if (passage.isHeld() && passage.grant == grant) {
                lose(passage, reason);
                settle(client.nanoTime(), null, null);
            }
        } finally {
            leave();
        }
    }

    /** Ends what is past its deadline. */
    void checkDeadlines(long now) {
        mutex.lock();
        try {
            loseWhatIsPast(now);
            settle(now, null, null);
        } finally {
            leave();
        }
    }

    /** The earliest deadline here, or {@code latest} if none is before it. */
    long earliestDeadline(long latest) {
        mutex.lock();
        try {
            long earliest = latest;
            for (Passage passage = passages.first(); passage != null; passage = passage.next) {
                if (passage.isHeld()) {
                    long until = passage.heldGrant().validUntilNanos();
                    earliest = until - earliest < 0 ? until : earliest;
                    for (Hold hold = passage.holds.first(); hold != null; hold = hold.next) {
                        until = hold.deadlineNanos();
                        earliest = until - earliest < 0 ? until : earliest;
                    }
                }
            }
            return earliest;
        } finally {
            mutex.unlock();
        }
    }

    private void loseWhatIsPast(long now) {
        Passage nextPassage;
        for (Passage passage = passages.first(); passage != null; passage = nextPassage) {
            nextPassage = passage.next;
            if (passage.isHeld() && !loseIfPast(passage, now)) {
                Hold nextHold;
                for (Hold hold = passage.holds.first(); hold != null; hold = nextHold) {
                    nextHold = hold.next;
                    if (now - hold.deadlineNanos() >= 0) {
                        lose(hold, LossReason.LEASE_ENDED);
                    }
                }
            }
        }
    }

    private boolean loseIfPast(Passage passage, long now) {
        if (now - passage.heldGrant().validUntilNanos() < 0) {
            return false;
        }
        lose(passage, LossReason.EXPIRED);
        return true;
    }

    private void lose(Passage passage, LossReason reason) {
        end(passage);
        for (Hold hold = passage.holds.first(); hold != null; hold = passage.holds.first()) {
            lose(hold, reason);
        }
        Grant grant = passage.heldGrant();
        later(() -> grant.release(LockBackend.DO_NOT_BLOCK).whenComplete((done, error) -> {
            if (error != null) {
                log.debug("Lock '{}': clearing up a lost grant failed", name, error);
            }
        }));
    }

    private void lose(Hold hold, LossReason reason) {
        remove(hold);
        if (hold.owner != null) {
            if (lostHolds == null) {
                lostHolds = new ArrayList<>(1);
            }
            lostHolds.add(hold);
        }
        for (Consumer<LossReason> action : hold.lose(reason)) {
            later(() -> client.runLossAction(name, action, reason));
        }
        client.events().lost(name, hold.mode, reason);
    }

    private void remove(Hold hold) {
        hold.passage.holds.remove(hold);
        if (hold == writer) {
            WRITER.setRelease(this, null);
        } else if (hold.owner != null && readers != null && hold.mode == LockMode.SHARED) {
            readers.remove(hold.owner, hold);
            if (readers.isEmpty()) {
                readers = null;
            }
        }
    }

    private @Nullable Hold lostHold(Thread thread, @Nullable LockMode mode) {
        if (lostHolds != null) {
            for (Hold hold : lostHolds) {
                if (hold.owner == thread && (mode == null || hold.mode == mode)) {
                    return hold;
                }
            }
        }
        return null;
    }

    /** A lost hold has been given back by its thread: nothing is left to tell. */
    private void forget(Hold hold) {
        if (lostHolds != null) {
            lostHolds.remove(hold);
            if (lostHolds.isEmpty()) {
                lostHolds = null;
            }
        }
    }

    // ---------------------------------------------------------------- asking

    /** The hold of a thread in a mode, lost ones included; null if it has none. */
    @Nullable
    Hold holdOf(Thread thread, LockMode mode) {
        Hold own = writer;
        if (mode == LockMode.EXCLUSIVE && own != null && own.owner == thread) {
            return own;
        }
        mutex.lock();
        try {
            Hold read = mode == LockMode.SHARED && readers != null ? readers.get(thread) : null;
            return read != null ? read : lostHold(thread, mode);
        } finally {
            mutex.unlock();
        }
    }

    /** Draws the token of a hold, if it is the current one. */
    long drawToken(Hold hold) {
        mutex.lock();
        try {
            long now = client.nanoTime();
            if (hold.isOpen() && now - hold.deadlineNanos() >= 0) {
                loseWhatIsPast(now);
                settle(now, null, null);
            }
            if (hold.isOpen()) {
                return hold.draw();
            }
        } finally {
            leave();
        }
        if (hold.isReleased()) {
            throw new IllegalStateException("Lock '" + name
                    + "': the hold was given back before its token was asked for. Ask while holding the lock.");
        }
        throw hold.lostException();
    }

    void onLost(Hold hold, Consumer<LossReason> action) {
        mutex.lock();
        try {
            LossReason reason = hold.loss();
            if (reason != null) {
                later(() -> client.runLossAction(name, action, reason));
            } else if (hold.isOpen()) {
                hold.addLossAction(action);
            }
        } finally {
            leave();
        }
    }

    boolean hasWaiters() {
        mutex.lock();
        try {
            return !queue.isEmpty();
        } finally {
            mutex.unlock();
        }
    }

    // ---------------------------------------------------------------- ending

    /** Frees this turnstile if nobody uses it. */
    boolean retire() {
        mutex.lock();
        try {
            retired = retired || isIdle();
            return retired;
        } finally {
            mutex.unlock();
        }
    }

    private boolean isIdle() {
        if (lostHolds != null) {
            lostHolds.removeIf(hold -> hold.owner != null && !hold.owner.isAlive());
            lostHolds = lostHolds.isEmpty() ? null : lostHolds;
        }
        purge();
        return passages.isEmpty() && queue.isEmpty() && lostHolds == null;
    }

    /** Gives everything up. Done when the engine has confirmed it. */
    CompletableFuture<Void> close() {
        CompletableFuture<Void> done = new CompletableFuture<>();
        mutex.lock();
        try {
            drained = done;
            crowded = true;
            LockUnavailableException closed = client.closedWhileWaiting(name);
            for (Waiter waiter = queue.first(); waiter != null; waiter = queue.first()) {
                abandon(waiter);
                finish(waiter, closed);
            }
            for (Passage passage = passages.first(); passage != null; passage = passage.next) {
                if (passage.inline) {
                    passage.endClaiming(State.WITHDRAWING); // or its thread was first, and it is held now
                } else if (passage.isClaiming() && passage.only != null) {
                    withdraw(passage);
                    finish(passage.only, closed);
                }
                if (!passage.isHeld()) {
                    continue;
                }
                for (Hold hold = passage.holds.first(); hold != null; hold = passage.holds.first()) {
                    lose(hold, LossReason.CLIENT_CLOSED);
                }
            }
            settle(client.nanoTime(), null, null);
        } finally {
            leave();
        }
        return done;
    }

    // ---------------------------------------------------------------- bookkeeping

    /** Removes what ended without the mutex. */
    private void purge() {
        Passage next;
        for (Passage passage = passages.first(); passage != null; passage = next) {
            next = passage.next;
            if (passage.state() == State.GONE) {
                passages.remove(passage);
            }
        }
    }

    private void queueAdd(Waiter waiter) {
        queue.add(waiter);
        queued(waiter);
    }

    private void queued(Waiter waiter) {
        crowded = true;
        if (waiter.mode == LockMode.EXCLUSIVE) {
            exclusiveWaiters++;
        }
        if (waiter.callback != null) {
            client.watchOutage();
        }
    }

    private void queueRemove(Waiter waiter) {
        if (!queue.remove(waiter)) {
            return;
        }
        if (waiter.mode == LockMode.EXCLUSIVE) {
            exclusiveWaiters--;
        }
        if (queue.isEmpty() && drained == null) {
            crowded = false;
        }
    }

    private void abandon(Waiter waiter) {
        queueRemove(waiter);
        Passage passage = waiter.passage;
        if (passage != null && passage.isClaiming()) {
            withdraw(passage);
        }
    }

    private @Nullable Waiter firstOf(LockMode mode) {
        Waiter waiter = queue.first();
        while (waiter != null && waiter.mode != mode) {
            waiter = waiter.next;
        }
        return waiter;
    }

    /** Puts off what must not be done under the mutex. */
    private void later(Runnable effect) {
        if (effects == null) {
            effects = new ArrayList<>(4);
        }
        effects.add(effect);
    }

    /** Leaves the mutex, and does what was put off. */
    private void leave() {
        List<Runnable> due = effects;
        effects = null;
        mutex.unlock();
        if (due != null) {
            for (Runnable effect : due) {
                try {
                    effect.run();
                } catch (RuntimeException | Error e) {
                    log.error("Lock '{}': unexpected failure", name, e);
                }
            }
        }
    }
}
