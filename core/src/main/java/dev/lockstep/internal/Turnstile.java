package dev.lockstep.internal;

import dev.lockstep.HolderInfo;
import dev.lockstep.LockLostException;
import dev.lockstep.LockMode;
import dev.lockstep.LockOptions;
import dev.lockstep.LossReason;
import dev.lockstep.internal.Passage.State;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.Grant;
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
     * the first waiter rather than given to it: a running thread may take it meanwhile ("barge"), at most 64
     * times; then the first waiter is given it. Without this every hand-off would cost two context switches.
     *
     * Sticky locks keep an exclusive grant that nobody uses (RETAINED) until another client wants it or it has been idle for long.
     *
     * Readers. Those at the head of the queue hold together, under one grant. A reader that arrives later joins them
     * unless a writer waits. A grant that only readers use is downgraded, so that other clients' readers can join.
     *
     * Loss. A passage is lost when the engine says so or its deadline passes, whichever is seen first; everything
     * that looks at a hold compares the clock first. A grant that conflicts with a younger one is lost too: the engine
     * has ended it, whether its word has come or not. All holds on it end with the reason, once. A thread's lost hold
     * is kept until the thread has given it back, so that it can be told.
     *
     * Everything is decided in Rules.settle(), under the mutex; what follows from it (I/O, wake-ups, users' code) is put off
     * until the mutex is left. Inside it nothing of a backend is called but the reading of a grant's fields, and no
     * other lock is taken but those of timers and of the events' queue.
     *
     * The fast way of an uncontended pair is in FastWay.
     */

    /** How soon a call looks again whose time is up before the engine's first answer, which wakes nobody if it is no. */
    static final long LOOK_AGAIN_NANOS = 1_000_000;

    private final Client client;
    private final String name;
    private final long serial;
    private final Mutex mutex = new Mutex();
    private final Courier courier;
    private final Rules rules;
    private final Admission admission;
    private final FastWay fast;

    Turnstile(Client client, String name, long serial) {
        this.client = client;
        this.name = name;
        this.serial = serial;
        this.courier = new Courier(this, client);
        this.rules = new Rules(this, mutex, courier);
        this.admission = new Admission(rules, this);
        this.fast = new FastWay(this, rules, mutex, courier);
    }

    Client client() {
        return client;
    }

    String name() {
        return name;
    }

    /** What all users of the name agree on, for a claim of theirs that is on its way. */
    LockOptions options() {
        return rules.options;
    }

    String claimId(long number) {
        return client.id() + '.' + Long.toString(serial, 36) + '.' + Long.toString(number, 36);
    }

    HolderInfo holderInfo(String threadName, long sentNanos) {
        return client.holderInfo(threadName, sentNanos, rules.options.sticky().isPresent());
    }

    // ---------------------------------------------------------------- arriving

    /**
     * The exclusive hold of the calling thread that it may count up, found without the mutex: nobody else counts it. Not
     * for a use with a maximum or a minimum time, which may move the end of the hold.
     */
    @Nullable
    Hold reentered(Thread thread, LockOptions wish) {
        Hold own = rules.owners.writer(thread);
        return own != null
                        && wish.isReentrant()
                        && wish.maxHold().isEmpty()
                        && wish.minHold().isEmpty()
                        && Admission.agree(wish, rules.options)
                ? own
                : null;
    }

    /** Takes the lock by the {@link FastWay}, if nothing is in the way. */
    @Nullable
    Object enterFast(LockOptions wish, boolean mayWait, boolean timed, Duration blockAtMost) {
        return fast.enter(wish, mayWait, timed, blockAtMost);
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
            if (rules.retired) {
                return false;
            }
            mine = admission.admit(waiter);
        } finally {
            mutex.leave();
        }
        if (waiter.callback != null) {
            client.watchOutage(waiter.startNanos);
        }
        if (mine != null) {
            courier.submit(mine);
        }
        return true;
    }

    // ---------------------------------------------------------------- waiting

    /**
     * Waits, in the calling thread, for the result of a call that has entered.
     *
     * <pre>
     *   until there is a result:
     *     take what is offered
     *     if the time is up, or interrupted: give up, unless the result came first;
     *       the result comes when nothing is left at the engine
     *     park
     * </pre>
     *
     * @param waitNanos how long from the waiter's start; ignored unless {@code bounded}
     * @return the result
     */
    Object await(Waiter waiter, boolean bounded, long waitNanos, boolean interruptible) throws InterruptedException {
        // Before the loop: what may block inside it would swallow the wake-up between the look at the result and the
        // park.
        client.watchOutage(waiter.startNanos);
        long deadline = bounded ? waitDeadline(waiter, waitNanos) : 0;
        boolean interrupted = false;
        try {
            while (true) {
                Object result = look(waiter, bounded, deadline);
                if (result == Waiter.GAVE_UP) {
                    interrupted = false;
                    throw new InterruptedException("Interrupted while waiting for lock '" + name + "'");
                }
                if (result != null) {
                    return result;
                }
                if (Thread.interrupted()) {
                    interrupted |= !interruptible || !giveUp(waiter);
                } else if (bounded && waiter.answer == null) {
                    long left = deadline - client.monotonicNanos();
                    LockSupport.parkNanos(this, Math.max(left, LOOK_AGAIN_NANOS));
                } else {
                    LockSupport.park(this);
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /**
     * One look of a thread that waits: takes what is offered, gives up when the time is up. Null if it is to park: then
     * nothing that can block comes after the last look at what is offered, so that no wake-up is lost.
     */
    @Nullable
    Object look(Waiter waiter, boolean bounded, long deadlineNanos) {
        while (waiter.result == null && waiter.offered) {
            takeOffer(waiter); // what follows from it may block, and use up the wake-up of the next offer
        }
        if (waiter.result == null && bounded && client.monotonicNanos() - deadlineNanos >= 0) {
            timeUp(waiter);
        }
        return waiter.result;
    }

    /** When a wait ends, by the clock of waits: a wall clock that is set does not change it. */
    long waitDeadline(Waiter waiter, long waitNanos) {
        return client.monotonicNanos() + waitNanos - (client.nanoTime() - waiter.startNanos);
    }

    private void takeOffer(Waiter waiter) {
        mutex.enter();
        try {
            waiter.offered = false;
            if (waiter.result == null) {
                rules.settle(client.nanoTime(), waiter, null);
            }
        } finally {
            mutex.leave();
        }
    }

    /** Ends a wait that was interrupted or cancelled. False if it was over before. */
    boolean giveUp(Waiter waiter) {
        mutex.enter();
        try {
            if (waiter.isOver()) {
                return false;
            }
            end(waiter, Waiter.GAVE_UP, client.nanoTime());
            return true;
        } finally {
            mutex.leave();
        }
    }

    /**
     * Ends a wait whose time is up, by what is known of the lock at that moment.
     *
     * @return false if nothing is known yet because the engine's first answer is not there: the call must look again, until
     *     the request timeout
     */
    boolean timeUp(Waiter waiter) {
        long contact = client.backend().lastContactNanos();
        mutex.enter();
        try {
            if (waiter.isOver()) {
                return true;
            }
            long now = client.nanoTime();
            if (waiter.offered) {
                waiter.offered = false;
                rules.settle(now, waiter, null); // a grant came just before the time was up
                if (waiter.isOver()) {
                    return true;
                }
            }
            Object answer = rules.answers.timeUp(waiter, contact, now);
            if (answer instanceof Waiter.Failure && rules.answers.mayBeKnownSoon(waiter, now)) {
                return false;
            }
            end(waiter, answer, now);
            return true;
        } finally {
            mutex.leave();
        }
    }

    private void end(Waiter waiter, Object answer, long now) {
        rules.abandon(waiter);
        rules.settle(now, null, null);
        if (answer instanceof Waiter.Failure) {
            rules.finish(waiter, answer); // the engine is away: there is nothing to wait for
        } else {
            rules.leave(waiter, answer, now);
        }
    }

    /** The engine has not confirmed in time that nothing is left of a call. */
    void leaveAnyway(Waiter waiter) {
        mutex.enter();
        try {
            rules.finishLeaving(waiter);
        } finally {
            mutex.leave();
        }
    }

    /**
     * Ends the waits without a deadline of their own that have seen no contact for as long as the client bears it, or for
     * which the engine could not be asked for so long.
     *
     * @param lastContact when the engine last answered
     * @param earliest since when it owes an answer
     * @return whether somebody still waits
     */
    boolean checkOutage(long now, long lastContact, long earliest) {
        mutex.enter();
        try {
            boolean heldUp = rules.answers.isQueueHeldUp();
            long answered = lastContact - earliest > 0 ? lastContact : earliest;
            long asked = heldUp ? rules.answers.heldUpSince(earliest, now) : answered;
            long from = asked - answered < 0 ? asked : answered;
            Waiter next;
            for (Waiter waiter = rules.queue.first(); waiter != null; waiter = next) {
                next = waiter.next;
                long since = from - waiter.startNanos > 0 ? from : waiter.startNanos;
                if (!waiter.timed && now - since >= client.patienceNanos()) {
                    rules.abandon(waiter);
                    rules.finish(waiter, heldUp ? rules.answers.unconfirmed() : rules.answers.unavailable(now - since));
                }
            }
            rules.settle(now, null, null);
            return !rules.queue.isEmpty();
        } finally {
            mutex.leave();
        }
    }

    boolean hasWaiters() {
        return rules.queue.isAwaited();
    }

    /** One timer for a passage, however often it is used: it looks, and looks again when the idle time can be over. */
    void checkIdle(Passage passage, Duration sticky) {
        mutex.enter();
        try {
            passage.idleTimer = false;
            if (!passage.isHeld()) {
                return;
            }
            long now = client.nanoTime();
            rules.settle(now, null, null);
            if (passage.isHeld()) {
                long idle = passage.state() == State.RETAINED ? now - passage.idleSinceNanos : 0;
                passage.idleTimer = true;
                client.scheduler().schedule(sticky.toNanos() - idle, () -> checkIdle(passage, sticky));
            }
        } finally {
            mutex.leave();
        }
    }

    /** The minimum time of a hold may be over. */
    void checkKept(Passage passage) {
        mutex.enter();
        try {
            passage.keptTimer = false;
            rules.settle(client.nanoTime(), null, null);
        } finally {
            mutex.leave();
        }
    }

    /** Another client wants a grant that is here. One that is in use is looked at when a hold ends. */
    void wanted(Passage passage) {
        mutex.enter();
        try {
            if (passage.state() == State.RETAINED) {
                rules.settle(client.nanoTime(), null, null);
            }
        } finally {
            mutex.leave();
        }
    }

    // ---------------------------------------------------------------- claiming

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
                    rules.granted(passage, granted.grant(), now);
                } else if (outcome instanceof Outcome.Busy && passage.only != null && !passage.mayWait()) {
                    rules.end(passage);
                    rules.finish(passage.only, rules.answers.refused(now));
                } else {
                    rules.failed(passage, error);
                }
            } else if (passage.state() == State.WITHDRAWING && passage.claim == null) {
                rules.end(passage); // it was given up before it was submitted, and could not be submitted
            }
            rules.settle(now, null, null);
        } finally {
            mutex.leave();
        }
    }

    /** The engine has not answered at once that it knows a passage no more. */
    void owed(Passage passage) {
        mutex.enter();
        try {
            passage.owed = true;
            passage.owedSinceNanos = client.nanoTime();
        } finally {
            mutex.leave();
        }
    }

    /** The engine knows a passage no more. */
    void gone(Passage passage) {
        mutex.enter();
        try {
            rules.end(passage);
            rules.settle(client.nanoTime(), null, null);
        } finally {
            mutex.leave();
        }
    }

    /** The engine knows a passage no more, and did not any more when its last hold was released: that had been lost. */
    void goneBefore(Passage passage, Hold hold) {
        mutex.enter();
        try {
            long now = client.nanoTime();
            rules.losses.loseReleased(hold, now);
            rules.end(passage);
            rules.settle(now, null, null);
        } finally {
            mutex.leave();
        }
    }

    /** The engine knows a passage no more; without the mutex if nobody waits for that. */
    void goneFast(Passage passage) {
        fast.gone(passage);
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
        CompletableFuture<Void> withdrawn;
        mutex.enter();
        try {
            long now = rules.engineTells(hold) ? passage.sentNanos() : client.nanoTime();
            if (hold.isOpen() && now - hold.deadlineNanos() >= 0) {
                rules.losses.loseWhatIsPast(now);
                rules.settle(now, null, null);
            }
            if (!hold.isOpen()) {
                rules.owners.forgetLost(hold);
                throw hold.lostException();
            }
            mine = rules.release(hold, now);
            withdrawn = mine ? rules.withdrawn(now) : null;
        } finally {
            mutex.leave();
        }
        CompletableFuture<Boolean> released = mine ? courier.release(passage, hold, blockAtMost) : null;
        return released == null || withdrawn == null
                ? released
                : released.thenCombine(withdrawn, (answer, nothing) -> answer);
    }

    /** The engine has confirmed the release of a hold. */
    void confirmed(Hold hold) {
        if (hold.endRelease(Hold.End.RELEASED)) {
            client.events().released(name, hold.mode, client.nanoTime() - hold.sinceNanos);
        }
    }

    /** The engine has not confirmed the release of a hold, and its owner waits no longer. False if the hold has an end. */
    boolean unconfirmed(Hold hold) {
        if (!hold.endRelease(Hold.End.UNCONFIRMED)) {
            return false;
        }
        client.events().unconfirmed(name, hold.mode, client.nanoTime() - hold.sinceNanos);
        return true;
    }

    void downgraded(Passage passage, boolean shared) {
        mutex.enter();
        try {
            if (shared) {
                passage.mode = LockMode.SHARED;
            } else {
                rules.losses.loseOverruled(passage); // by a grant that it could be shared with as long as nobody knew
            }
            rules.settle(client.nanoTime(), null, null);
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
                rules.losses.lose(passage, reason);
                rules.settle(client.nanoTime(), null, null);
            }
        } finally {
            mutex.leave();
        }
    }

    /** Ends what is past its deadline. */
    void checkDeadlines(long now) {
        mutex.enter();
        try {
            rules.losses.loseWhatIsPast(now);
            rules.settle(now, null, null);
        } finally {
            mutex.leave();
        }
    }

    /** The earliest deadline here, or {@code latest} if none is before it. */
    long earliestDeadline(long latest) {
        mutex.enter();
        try {
            long earliest = latest;
            for (Passage passage = rules.passages.first(); passage != null; passage = passage.next) {
                if (passage.isHeld()) {
                    earliest = passage.earliestDeadline(earliest);
                }
            }
            return earliest;
        } finally {
            mutex.leave();
        }
    }

    // ---------------------------------------------------------------- asking

    /** The hold of a thread in a mode, lost ones included; null if it has none. */
    @Nullable
    Hold holdOf(Thread thread, LockMode mode) {
        Hold own = mode == LockMode.EXCLUSIVE ? rules.owners.writer(thread) : null;
        if (own != null) {
            return own;
        }
        mutex.enter();
        try {
            own = mode == LockMode.SHARED ? rules.owners.reader(thread) : null;
            return own != null ? own : rules.owners.lost(thread, mode);
        } finally {
            mutex.leave();
        }
    }

    /** Shows every hold to somebody who only looks. */
    void forEachHold(Consumer<Hold> look) {
        mutex.enter();
        try {
            for (Passage passage = rules.passages.first(); passage != null; passage = passage.next) {
                for (Hold hold = passage.holds.first(); hold != null; hold = hold.next) {
                    look.accept(hold);
                }
            }
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
                rules.losses.loseWhatIsPast(now);
                rules.settle(now, null, null);
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
            rules.retired |= rules.isIdle();
            return rules.retired;
        } finally {
            mutex.leave();
        }
    }

    /** Gives everything up. Done when the engine has confirmed it. */
    CompletableFuture<Void> close() {
        CompletableFuture<Void> done = new CompletableFuture<>();
        mutex.enter();
        try {
            rules.drained = done;
            rules.queue.awaitAlways();
            for (Waiter waiter = rules.queue.first(); waiter != null; waiter = rules.queue.first()) {
                rules.abandon(waiter);
                rules.finish(waiter, rules.answers.closed());
            }
            for (Waiter waiter = rules.queue.firstLeaving(); waiter != null; waiter = rules.queue.firstLeaving()) {
                rules.finishLeaving(waiter);
            }
            for (Passage passage = rules.passages.first(); passage != null; passage = passage.next) {
                rules.close(passage);
            }
            rules.settle(client.nanoTime(), null, null);
        } finally {
            mutex.leave();
        }
        return done;
    }
}
