package dev.lockstep.internal;

import dev.lockstep.HolderInfo;
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
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

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
     * Sticky locks keep a grant that nobody uses (RETAINED) until another client wants it or it has been idle for long.
     *
     * Readers. Those at the head of the queue hold together, under one grant. A reader that arrives later joins them
     * unless a writer waits. A grant that only readers use is downgraded, so that other clients' readers can join.
     *
     * Loss. A passage is lost when the engine says so or its deadline passes, whichever is seen first; everything
     * that looks at a hold compares the clock first. All holds on it end with the reason, once. A thread's lost hold
     * is kept until the thread has given it back, so that it can be told.
     *
     * Everything is decided in settle(), under the mutex; what follows from it (I/O, wake-ups, users' code) is put off
     * until the mutex is left. Inside it nothing of a backend is called but the reading of a grant's fields, and no
     * other lock is taken but those of timers and of the events' queue.
     *
     * The fast way. An uncontended pair passes the mutex twice, not four times. A thread that finds nothing in the way
     * leaves its claim here as "inline", calls the backend, and makes the grant its hold by one compare-and-set of the
     * passage's state; whoever comes meanwhile finds a claim under way and queues. When the engine has confirmed a
     * release, the passage is marked GONE without the mutex, for the next who comes to remove, and only if somebody
     * waits is the mutex entered: a waiter first says that it waits and then looks at the state, the releaser does it
     * the other way round, so that one of them sees the other.
     */

    /** How often the first waiter may be overtaken by threads that happen to run. */
    static final int MAX_BYPASS = 64;

    /** How long a grant may be handed on locally once another client wants it. */
    static final long HAND_OFF_NANOS = 10_000_000;

    private final Client client;
    private final String name;
    private final long serial;
    private final Courier courier;
    private final Mutex mutex = new Mutex();
    private final WaitQueue queue = new WaitQueue();
    private final Chain<Passage> passages = new Chain<>();
    private final Owners owners = new Owners();

    /** What all users of the name must agree on while it is in use. */
    private LockOptions options = LockOptions.defaults();

    /** The last grant was given back because others want it: the next claim queues behind them. */
    private boolean yields;

    private boolean retired;
    private long claims;

    /** Done when the last passage is gone, once the client is being closed. */
    private @Nullable CompletableFuture<Void> drained;

    Turnstile(Client client, String name, long serial) {
        this.client = client;
        this.name = name;
        this.serial = serial;
        this.courier = new Courier(this, client);
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

    HolderInfo holderInfo(String threadName, long sentNanos) {
        return client.holderInfo(threadName, sentNanos, options.sticky().isPresent());
    }

    // ---------------------------------------------------------------- arriving

    /** The exclusive hold of the calling thread that it may count up, found without the mutex: nobody else counts it. */
    @Nullable
    Hold reentered(Thread thread, LockOptions wish) {
        Hold own = owners.writer(thread);
        return own != null && wish.isReentrant() && wish.agreesWith(options) ? own : null;
    }

    /**
     * Takes the lock exclusively for the calling thread if nobody here uses it and the engine answers inside the call.
     *
     * @return a {@link Hold}; or a {@link Waiter} that has entered; or null if something is in the way, and the call must
     *     enter as a waiter
     */
    @Nullable
    Object enterFast(LockOptions wish, long now, boolean mayWait, boolean timed, Duration blockAtMost) {
        Thread thread = Thread.currentThread();
        Passage passage = claimFast(wish, thread, now, mayWait, blockAtMost);
        if (passage == null) {
            return null;
        }
        Courier.Submission submission = courier.call(passage);
        Grant grant = Courier.grantedAtOnce(submission);
        Hold hold = grant == null ? null : takeFast(passage, grant, wish, thread, now);
        if (hold != null) {
            return hold;
        }
        Waiter waiter = new Waiter(LockMode.EXCLUSIVE, wish, now, mayWait, timed, blockAtMost, null);
        enterLate(passage, waiter);
        courier.follow(passage, submission);
        return waiter;
    }

    private @Nullable Passage claimFast(
            LockOptions wish, Thread thread, long now, boolean mayWait, Duration blockAtMost) {
        mutex.enter();
        try {
            purge();
            if (retired
                    || wish.isFair()
                    || !wish.agreesWith(options)
                    || owners.hasLost()
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
            mutex.leave();
        }
    }

    /** Makes a hold of a grant that came at once. Null if the client was closed meanwhile, or somebody listens. */
    private @Nullable Hold takeFast(Passage passage, Grant grant, LockOptions wish, Thread thread, long now) {
        if (client.events().isHeard()) {
            return null;
        }
        Hold hold = new Hold(this, passage, LockMode.EXCLUSIVE, wish, thread, now);
        passage.grant = grant;
        passage.add(hold);
        owners.add(hold);
        if (!passage.endClaiming(State.HELD)) {
            owners.remove(hold);
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

    /** Lets a call in as a waiter after its claim was submitted. */
    private void enterLate(Passage passage, Waiter waiter) {
        mutex.enter();
        try {
            passage.inline = false;
            if (!passage.isClaiming()) {
                waiter.finish(client.closedWhileWaiting(name));
            } else if (waiter.mayWait) {
                queue.addFirst(waiter);
            } else {
                passage.only = waiter;
                waiter.passage = passage;
            }
        } finally {
            mutex.leave();
        }
    }

    /**
     * Lets a call in, or makes it wait.
     *
     * @return false if this turnstile has been retired, and the call must find its successor
     */
    boolean enter(Waiter waiter) {
        Passage mine;
        mutex.enter();
        try {
            if (retired) {
                return false;
            }
            mine = admit(waiter);
        } finally {
            mutex.leave();
        }
        if (waiter.callback != null) {
            client.watchOutage();
        }
        if (mine != null) {
            courier.submit(mine);
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
        if (options.isFair()) {
            if (waiter.mayWait) {
                queue.add(waiter);
            }
            return claimFor(waiter, false);
        }
        for (Passage passage = passages.first(); passage != null; passage = passage.next) {
            if (passage.isHeld() && !loseIfPast(passage, now) && mayJoin(passage, waiter, now)) {
                Waiter first = queue.first();
                if (first != null && passage.holds.isEmpty()) {
                    first.bypassed++;
                }
                assign(passage, waiter, now);
                return null;
            }
        }
        if (waiter.mayWait) {
            queue.add(waiter);
            releaseUseless(now);
            return claimIfNeeded(waiter.blockAtMost, now);
        }
        if (heldAgainst(waiter)) {
            finish(waiter, Waiter.BUSY);
            return null;
        }
        return claimFor(waiter, !yields);
    }

    /** Fairness, stickiness and reentrancy are the name's while it is in use. */
    private void adopt(LockOptions wish) {
        if (wish.agreesWith(options)) {
            return;
        }
        if (!isIdle()) {
            throw new LockConfigurationException(
                    name,
                    "Lock '" + name + "' is in use with " + options + " and cannot be used with " + wish
                            + " meanwhile. Use the same fairness, stickiness and reentrancy for a name everywhere.");
        }
        options = wish;
    }

    /** Re-entry, downgrade and self-deadlock: what depends on the thread's own holds. True if that settled it. */
    private boolean admitOwner(Waiter waiter, Thread thread, long now) {
        Hold written = owners.writer(thread);
        Hold read = owners.reader(thread);
        Hold own = written != null ? written : read;
        if (own != null && now - own.deadlineNanos() >= 0) {
            loseWhatIsPast(now);
            settle(now, null, null);
        }
        Hold lost = owners.lost(thread, null);
        if (lost != null) {
            throw lost.lostException();
        }
        if (own == null) {
            return false;
        }
        boolean reentrant = options.isReentrant();
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
        boolean free = passage.holds.isEmpty() ? first == null || first.bypassed < MAX_BYPASS : !queue.hasExclusive();
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
                    && (waiter.mode == LockMode.EXCLUSIVE || passage.writer() != null || queue.hasExclusive())) {
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
        mutex.enter();
        try {
            waiter.offered = false;
            if (waiter.result == null) {
                settle(client.nanoTime(), waiter, null);
            }
        } finally {
            mutex.leave();
        }
    }

    /** Ends a wait without a hold. False if the result came first. */
    boolean giveUp(Waiter waiter) {
        mutex.enter();
        try {
            if (waiter.result != null) {
                return false;
            }
            waiter.finish(Waiter.GAVE_UP);
            abandon(waiter);
            settle(client.nanoTime(), null, null);
            return true;
        } finally {
            mutex.leave();
        }
    }

    private void abandon(Waiter waiter) {
        queue.remove(waiter);
        Passage passage = waiter.passage;
        if (passage != null && passage.isClaiming()) {
            withdraw(passage);
        }
    }

    /** Whether the lock was known to be held by somebody else when a call's time was up. */
    boolean knownHeld(Waiter waiter, long now) {
        long contact = client.backend().lastContactNanos();
        if (contact - waiter.startNanos >= 0) {
            return true;
        }
        mutex.enter();
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
            mutex.leave();
        }
    }

    /**
     * Ends the waits without a deadline of their own that have seen no contact for the request timeout.
     *
     * @param lastContact when the engine last answered, or when it began to owe an answer
     * @return whether somebody still waits
     */
    boolean checkOutage(long now, long lastContact) {
        mutex.enter();
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
            mutex.leave();
        }
    }

    boolean hasWaiters() {
        return queue.isAwaited();
    }

    // ---------------------------------------------------------------- deciding

    /**
     * Decides what happens next. Called after everything that changed something.
     *
     * <pre>
     *   for each grant:
     *     past its deadline: it is lost
     *     let the waiters at the head of the queue use it, as far as they may
     *     nobody uses it: keep it if the lock is sticky, or give it back
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
            } else if (passage.isHeld()
                    && !loseIfPast(passage, now)
                    && !serve(passage, now, taker)
                    && !retain(passage, now)) {
                beginRelease(passage, passage != mine);
            }
        }
        Passage claim = claimIfNeeded(LockBackend.DO_NOT_BLOCK, now);
        if (claim != null) {
            mutex.later(() -> courier.submit(claim));
        }
        for (Passage passage = passages.first(); passage != null; passage = passage.next) {
            if (passage.isClaiming()
                    && passage.only == null
                    && !passage.inline
                    && queue.firstOf(passage.mode) == null) {
                withdraw(passage);
            }
        }
        if (drained != null && passages.isEmpty()) {
            CompletableFuture<Void> done = drained;
            mutex.later(() -> done.complete(null));
        }
    }

    /** Lets waiters use a grant. False if nobody does, and nobody is about to. */
    private boolean serve(Passage passage, long now, @Nullable Waiter taker) {
        if (!options.isFair()) {
            for (Waiter first = queue.first(); first != null; first = queue.first()) {
                if (!fits(passage, first.mode) || !mayHandOff(passage, first, now)) {
                    break;
                }
                if (first != taker && mayOffer(first)) {
                    offer(first);
                    return true;
                }
                queue.remove(first);
                assign(passage, first, now);
            }
        }
        return !passage.holds.isEmpty();
    }

    private static boolean mayOffer(Waiter first) {
        return first.thread != null && first.mode == LockMode.EXCLUSIVE && first.bypassed < MAX_BYPASS;
    }

    private void offer(Waiter first) {
        if (!first.offered) {
            first.offered = true;
            mutex.later(() -> LockSupport.unpark(first.thread));
        }
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
        owners.add(hold);
        if (waiter.mode == LockMode.EXCLUSIVE) {
            passage.downgrade = null;
        } else if (passage.writer() == null) {
            downgrade(passage);
        }
        client.watchDeadline(hold.deadlineNanos());
        client.events().acquired(name, waiter.mode, now - waiter.startNanos);
        finish(waiter, hold);
    }

    private void finish(Waiter waiter, Object result) {
        waiter.finish(result);
        if (waiter.callback != null) {
            mutex.later(() -> client.complete(waiter, result));
        } else if (waiter.thread != Thread.currentThread()) {
            mutex.later(() -> LockSupport.unpark(waiter.thread));
        }
    }

    // ---------------------------------------------------------------- keeping

    /** Keeps a grant that nobody uses, if the lock is sticky and nobody wants it. */
    private boolean retain(Passage passage, long now) {
        Duration sticky = options.sticky().orElse(null);
        if (sticky == null
                || drained != null
                || !queue.isEmpty()
                || passage.budgeted
                || passage.isWanted()
                || !passage.hasTokensLeft()
                || passage.downgrade != null) {
            return false;
        }
        if (passage.state() == State.HELD) {
            passage.transitionTo(State.RETAINED);
            passage.idleSinceNanos = now;
            if (!passage.idleTimer) {
                passage.idleTimer = true;
                client.scheduler().schedule(sticky.toNanos(), () -> checkIdle(passage, sticky));
            }
        }
        return now - passage.idleSinceNanos < sticky.toNanos();
    }

    /** One timer for a passage, however often it is used: it looks, and looks again when the idle time can be over. */
    private void checkIdle(Passage passage, Duration sticky) {
        mutex.enter();
        try {
            passage.idleTimer = false;
            if (!passage.isHeld()) {
                return;
            }
            long now = client.nanoTime();
            settle(now, null, null);
            if (passage.isHeld()) {
                long idle = passage.state() == State.RETAINED ? now - passage.idleSinceNanos : 0;
                passage.idleTimer = true;
                client.scheduler().schedule(sticky.toNanos() - idle, () -> checkIdle(passage, sticky));
            }
        } finally {
            mutex.leave();
        }
    }

    /** Another client wants a grant that is here. One that is in use is looked at when a hold ends. */
    void wanted(Passage passage) {
        mutex.enter();
        try {
            if (passage.state() == State.RETAINED) {
                settle(client.nanoTime(), null, null);
            }
        } finally {
            mutex.leave();
        }
    }

    // ---------------------------------------------------------------- claiming

    /** The claim for whoever stands first, unless one is on its way or something here will serve it. */
    private @Nullable Passage claimIfNeeded(Duration blockAtMost, long now) {
        Waiter first = queue.first();
        if (first == null || options.isFair()) {
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

    /** A claim has reached the backend; one that was given up meanwhile can be withdrawn only now. */
    void submitted(Passage passage, Claim claim) {
        mutex.enter();
        try {
            passage.claim = claim;
            if (passage.state() == State.WITHDRAWING) {
                mutex.later(() -> courier.withdraw(passage, claim));
            }
        } finally {
            mutex.leave();
        }
    }

    /** The engine has answered a claim, or its outcome is unknown. */
    void concluded(Passage passage, @Nullable Outcome outcome, @Nullable Throwable error) {
        mutex.enter();
        try {
            long now = client.nanoTime();
            if (passage.isClaiming()) {
                if (outcome instanceof Outcome.Granted granted) {
                    granted(passage, granted.grant(), now);
                } else if (outcome instanceof Outcome.Busy && passage.only != null && !passage.mayWait()) {
                    end(passage);
                    finish(passage.only, Waiter.BUSY);
                } else {
                    failed(passage, error);
                }
            } else if (passage.state() == State.WITHDRAWING && passage.claim == null) {
                end(passage); // it was given up before it was submitted, and could not be submitted
            }
            settle(now, null, null);
        } finally {
            mutex.leave();
        }
    }

    private void granted(Passage passage, Grant grant, long now) {
        passage.grant = grant;
        passage.transitionTo(State.HELD);
        LossReason told = passage.toldLoss();
        if (told != null) {
            lose(passage, told);
        }
        Waiter only = passage.only;
        if (!passage.isHeld() || loseIfPast(passage, now)) {
            // Too late to be used. Who waits in the queue is claimed for again; a call with its own claim here.
            if (only != null && only.mayWait) {
                Passage again = claimFor(only, false);
                mutex.later(() -> courier.submit(again));
            } else if (only != null) {
                finish(only, client.unavailable(name, now - passage.sentNanos()));
            }
            return;
        }
        Waiter first = only != null ? only : queue.firstOf(passage.mode);
        if (first != null && (only != null || first != queue.first() || first.thread == Thread.currentThread())) {
            queue.remove(first);
            assign(passage, first, now);
        }
    }

    /** The backend does not know what became of a claim: take it back, and report. */
    private void failed(Passage passage, @Nullable Throwable error) {
        if (passage.claim == null) {
            end(passage);
        } else {
            withdraw(passage);
        }
        Throwable failure = client.failure(name, error);
        if (passage.only != null) {
            queue.remove(passage.only);
            finish(passage.only, failure);
            return;
        }
        for (Waiter waiter = queue.firstOf(passage.mode); waiter != null; waiter = queue.firstOf(passage.mode)) {
            queue.remove(waiter);
            finish(waiter, failure);
        }
    }

    private void withdraw(Passage passage) {
        passage.transitionTo(State.WITHDRAWING);
        Claim claim = passage.claim;
        if (claim != null) {
            mutex.later(() -> courier.withdraw(passage, claim));
        }
    }

    /** The engine knows a passage no more. */
    void gone(Passage passage) {
        mutex.enter();
        try {
            end(passage);
            settle(client.nanoTime(), null, null);
        } finally {
            mutex.leave();
        }
    }

    /** The engine knows a passage no more; without the mutex if nobody waits for that. */
    void goneFast(Passage passage) {
        passage.markGone();
        if (queue.isAwaited()) {
            mutex.enter();
            try {
                settle(client.nanoTime(), null, null);
            } finally {
                mutex.leave();
            }
        }
    }

    private void end(Passage passage) {
        passage.transitionTo(State.GONE);
        passages.remove(passage);
    }

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

    // ---------------------------------------------------------------- giving back

    /**
     * Ends a hold that its owner has counted down to zero.
     *
     * @return the engine's answer; null if it need not be asked, because the grant stays here
     * @throws LockLostException if the hold had been lost
     */
    @Nullable
    CompletableFuture<Boolean> release(Hold hold, Duration blockAtMost) {
        Passage passage = hold.passage;
        boolean mine;
        mutex.enter();
        try {
            long now = engineTells(hold) ? passage.sentNanos() : client.nanoTime();
            if (hold.isOpen() && now - hold.deadlineNanos() >= 0) {
                loseWhatIsPast(now);
                settle(now, null, null);
            }
            if (!hold.isOpen()) {
                owners.forgetLost(hold);
                throw hold.lostException();
            }
            remove(hold);
            hold.release();
            client.events().released(name, hold.mode, now - hold.sinceNanos);
            if (hold.mode == LockMode.EXCLUSIVE && !passage.holds.isEmpty()) {
                passage.shareTokenOf(hold);
                downgrade(passage);
            }
            settle(now, null, passage);
            mine = passage.state() == State.RELEASING;
        } finally {
            mutex.leave();
        }
        return mine ? courier.release(passage, blockAtMost) : null;
    }

    /**
     * Whether the clock need not be read for a release: with nobody to hand the grant to it goes to the engine, whose
     * answer tells whether it was ours to the end.
     */
    private boolean engineTells(Hold hold) {
        return queue.isEmpty()
                && hold.passage.holds.size() == 1
                && !hold.hasLease
                && options.sticky().isEmpty()
                && !client.events().isHeard();
    }

    private void beginRelease(Passage passage, boolean inBackground) {
        passage.transitionTo(State.RELEASING);
        yields |= passage.budgeted || passage.isWanted();
        if (inBackground) {
            mutex.later(() -> courier.release(passage, LockBackend.DO_NOT_BLOCK));
        }
    }

    /** Gives back what is kept but cannot serve who waits. */
    private void releaseUseless(long now) {
        for (Passage passage = passages.first(); passage != null; passage = passage.next) {
            if (passage.state() == State.RETAINED && !serve(passage, now, null)) {
                beginRelease(passage, true);
            }
        }
    }

    /** Lets other clients' readers in beside the readers that use an exclusive grant. */
    private void downgrade(Passage passage) {
        if (passage.mode == LockMode.EXCLUSIVE && passage.downgrade == null) {
            CompletableFuture<Boolean> done = new CompletableFuture<>();
            passage.downgrade = done;
            mutex.later(() -> courier.downgrade(passage, done));
        }
    }

    void downgraded(Passage passage, boolean shared) {
        mutex.enter();
        try {
            if (shared) {
                passage.mode = LockMode.SHARED;
            }
            settle(client.nanoTime(), null, null);
        } finally {
            mutex.leave();
        }
    }

    // ---------------------------------------------------------------- losing

    /** The engine says that a grant is gone. */
    void lost(Passage passage, Grant grant, LossReason reason) {
        mutex.enter();
        try {
            if (passage.isHeld() && passage.grant == grant) {
                lose(passage, reason);
                settle(client.nanoTime(), null, null);
            }
        } finally {
            mutex.leave();
        }
    }

    /** Ends what is past its deadline. */
    void checkDeadlines(long now) {
        mutex.enter();
        try {
            loseWhatIsPast(now);
            settle(now, null, null);
        } finally {
            mutex.leave();
        }
    }

    /** The earliest deadline here, or {@code latest} if none is before it. */
    long earliestDeadline(long latest) {
        mutex.enter();
        try {
            long earliest = latest;
            for (Passage passage = passages.first(); passage != null; passage = passage.next) {
                if (passage.isHeld()) {
                    earliest = passage.earliestDeadline(earliest);
                }
            }
            return earliest;
        } finally {
            mutex.leave();
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
        mutex.later(() -> courier.discard(passage));
    }

    private void lose(Hold hold, LossReason reason) {
        remove(hold);
        owners.addLost(hold);
        for (Consumer<LossReason> action : hold.lose(reason)) {
            mutex.later(() -> client.runLossAction(name, action, reason));
        }
        client.events().lost(name, hold.mode, reason);
    }

    private void remove(Hold hold) {
        hold.passage.holds.remove(hold);
        owners.remove(hold);
    }

    // ---------------------------------------------------------------- asking

    /** The hold of a thread in a mode, lost ones included; null if it has none. */
    @Nullable
    Hold holdOf(Thread thread, LockMode mode) {
        Hold own = mode == LockMode.EXCLUSIVE ? owners.writer(thread) : null;
        if (own != null) {
            return own;
        }
        mutex.enter();
        try {
            own = mode == LockMode.SHARED ? owners.reader(thread) : null;
            return own != null ? own : owners.lost(thread, mode);
        } finally {
            mutex.leave();
        }
    }

    /** Draws the token of a hold, if it is the current one. */
    long drawToken(Hold hold) {
        mutex.enter();
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
            mutex.leave();
        }
        if (hold.isReleased()) {
            throw new IllegalStateException("Lock '" + name
                    + "': the hold was given back before its token was asked for. Ask while holding the lock.");
        }
        throw hold.lostException();
    }

    void onLost(Hold hold, Consumer<LossReason> action) {
        mutex.enter();
        try {
            LossReason reason = hold.loss();
            if (reason != null) {
                mutex.later(() -> client.runLossAction(name, action, reason));
            } else if (hold.isOpen()) {
                hold.addLossAction(action);
            }
        } finally {
            mutex.leave();
        }
    }

    // ---------------------------------------------------------------- ending

    /** Frees this turnstile if nobody uses it. */
    boolean retire() {
        mutex.enter();
        try {
            retired = retired || isIdle();
            return retired;
        } finally {
            mutex.leave();
        }
    }

    private boolean isIdle() {
        purge();
        return passages.isEmpty() && queue.isEmpty() && !owners.hasLost();
    }

    /** Gives everything up. Done when the engine has confirmed it. */
    CompletableFuture<Void> close() {
        CompletableFuture<Void> done = new CompletableFuture<>();
        mutex.enter();
        try {
            drained = done;
            queue.awaitAlways();
            LockUnavailableException closed = client.closedWhileWaiting(name);
            for (Waiter waiter = queue.first(); waiter != null; waiter = queue.first()) {
                abandon(waiter);
                finish(waiter, closed);
            }
            for (Passage passage = passages.first(); passage != null; passage = passage.next) {
                close(passage, closed);
            }
            settle(client.nanoTime(), null, null);
        } finally {
            mutex.leave();
        }
        return done;
    }

    private void close(Passage passage, LockUnavailableException closed) {
        if (passage.inline && passage.endClaiming(State.WITHDRAWING)) {
            return; // its thread will see it
        }
        if (passage.isClaiming() && passage.only != null) {
            withdraw(passage);
            finish(passage.only, closed);
        } else if (passage.isHeld()) {
            for (Hold hold = passage.holds.first(); hold != null; hold = passage.holds.first()) {
                lose(hold, LossReason.CLIENT_CLOSED);
            }
        }
    }
}
