package dev.lockstep.internal.turnstile;

import dev.lockstep.HolderInfo;
import dev.lockstep.LockLostException;
import dev.lockstep.LockMode;
import dev.lockstep.LockOptions;
import dev.lockstep.LossReason;
import dev.lockstep.internal.concurrent.ThreadName;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Turns the threads of one client that want one lock into few claims at the engine. One for each name in use.
 *
 * <p>Safe for use by many threads.
 */
public final class Turnstile {
    /*
     * Overview
     *
     * A Call arrives. If a grant that is here already can serve it, it becomes a Hold at once. Otherwise it is a Waiter
     * in the local queue, and the turnstile has one claim at the engine for the waiter that is first: the claim is the
     * turnstile's, so it keeps its place in the engine's queue when the call that caused it gives up. A claim's way
     * through the engine is a Passage; its states and their order are in PassageState.
     *
     *    Waiter ──enter──▶ queue ──serve──▶ Hold ──release──▶ (next waiter | engine)
     *                        │                ▲
     *                      claim ─▶ Passage ─grant
     *
     * Fair locks have no local order: each call has its own claim and waits for its own grant, so that the engine's
     * order is the order. A call that may not wait has its own claim, too, since only the engine knows the answer.
     *
     * Hand-off. When a hold ends and a waiter is there, the grant stays: freely while no other client wants it; a number
     * of times, and not for long, once one does (HandOffs). A woken thread needs a while to run, so an idle grant is
     * offered to the first waiter instead of assigned to it: a running thread may take it meanwhile ("barge"), but not
     * without end. Without this every hand-off would cost two context switches.
     *
     * Sticky locks keep an exclusive grant that nobody uses (RETAINED) until another client wants it or it has been idle for long.
     *
     * Readers. Those at the head of the queue hold together, under one grant. A reader that arrives later joins them
     * unless a writer waits. A grant that only readers use is downgraded, so that other clients' readers can join.
     *
     * Loss. A passage is lost when the engine says so or its deadline passes, whichever is seen first; everything that
     * looks at a hold compares the clock first. A grant that conflicts with a younger one is lost too: the engine has
     * ended it, whether or not its notification has come. All holds on it end with the reason, once. A thread's lost
     * hold is kept until the thread has released it, so that the thread learns of the loss.
     *
     * One direction. An event enters through the Gate, from here (a call arrives, its time is up) or from EngineEvents (the
     * engine answers). Under the mutex it changes the TurnstileState, and Rules.decide() says what follows: Effects, as data.
     * When the mutex has been left, Actions performs them, and nothing else does; its results are events again.
     *
     *    event ──▶ Gate ──▶ Arrivals, Claims, Losses, Leftovers ──▶ Rules.decide ──▶ Effects ──▶ Actions ──▶ backend
     *                ▲                                                                              │
     *                └──────────────────── EngineEvents: answers, as events ────────────────────────┘
     *
     * Under the mutex, the only calls to a backend read the fields of a grant or a claim. Events for listeners are queued,
     * and no other lock is taken than that of their queue. Timers are set and cancelled by effects, like everything else.
     *
     * An uncontended acquire and release go the same way with fewer steps: see InlineClaim.
     */

    /** How soon a call checks again if its time is up before the engine's first answer; a refusal wakes no thread. */
    public static final long LOOK_AGAIN_NANOS = 1_000_000;

    private final TurnstileContext client;
    private final String name;
    private final long serial;
    private final TurnstileState state = new TurnstileState();
    private final Rules rules;
    private final Arrivals arrivals;
    private final Gate gate;
    final Actions actions;
    private final EngineEvents engineEvents;
    private final InlineClaim inline;
    private final WaitEvents waits;

    Turnstile(TurnstileContext client, String name, long serial) {
        this.client = client;
        this.name = name;
        this.serial = serial;
        Effects effects = new Effects();
        this.actions = new Actions(this, client);
        this.rules = new Rules(this, state, effects);
        this.arrivals = new Arrivals(rules, this);
        this.gate = new Gate(client, rules, effects, actions);
        this.engineEvents = new EngineEvents(this, gate, rules);
        this.inline = new InlineClaim(this, state, actions);
        this.waits = new WaitEvents(gate, rules);
    }

    public TurnstileContext client() {
        return client;
    }

    public String name() {
        return name;
    }

    /** Where the backend's answers and this turnstile's timers enter. */
    EngineEvents engineEvents() {
        return engineEvents;
    }

    /** Where events enter that say that a holder of this lock waits for another one. */
    public WaitEvents waits() {
        return waits;
    }

    /** The settings that all users of the name agree on, for a claim that is on its way. */
    LockOptions options() {
        return state.options();
    }

    String claimId(long number) {
        return client.id() + '.' + Long.toString(serial, 36) + '.' + Long.toString(number, 36);
    }

    HolderInfo holderInfo(ThreadName threadName, long sentNanos) {
        return client.holderInfo(threadName, sentNanos, state.options().sticky().isPresent());
    }

    // ---------------------------------------------------------------- calls

    /**
     * The exclusive hold of the calling thread that it may count up, found without the mutex: nobody else counts it. Not
     * for a use with a maximum or a minimum time, which may move the end of the hold.
     */
    public @Nullable Hold reentered(Thread thread, LockOptions wish) {
        Hold own = state.owners.writer(thread);
        return own != null
                        && wish.isReentrant()
                        && wish.maxHold().isEmpty()
                        && wish.minHold().isEmpty()
                        && TurnstileState.agree(wish, state.options())
                ? own
                : null;
    }

    /**
     * A call arrives.
     *
     * @return its hold, or a waiter; null if this turnstile has been retired, and the call must find its successor
     */
    public @Nullable Entry enter(Call call) {
        Entry entry;
        gate.enter();
        try {
            entry = state.isRetired() ? null : arrivals.admit(call);
        } finally {
            gate.leave();
        }
        return entry instanceof Passage passage ? inline.ask(passage, call) : entry;
    }

    /** A call arrives that claims several locks; see {@link ClaimBatch}. Null if it must take this one alone. */
    @Nullable
    Waiter enterBatch(Call call, long sentNanos) {
        return read(known -> known.isRetired() ? null : arrivals.admitToBatch(call, sentNanos));
    }

    /** The engine has not granted an inline claim at once: its call waits like any other. */
    void becomesWaiter(Passage passage, Waiter waiter) {
        gate.post(() -> {
            if (!passage.isClaiming()) {
                passage.endInline();
                waiter.finish(rules.answers.closed());
            } else if (waiter.mayWait()) {
                passage.endInline();
                state.queue.addFirst(waiter);
            } else {
                passage.endInline(waiter);
                waiter.claimsBy(passage);
                rules.decide(client.nanoTime()); // the calls that came meanwhile need a claim of their own
            }
        });
    }

    /** The thread of a waiter looks at what was offered to it. */
    void takeOffer(Waiter waiter) {
        gate.post(() -> {
            waiter.takeOffer();
            if (waiter.result() == null) {
                rules.decide(waiter, client.nanoTime());
            }
        });
    }

    /** A wait was interrupted or cancelled. False if it was over before. */
    boolean giveUp(Waiter waiter) {
        gate.enter();
        try {
            if (waiter.isOver()) {
                return false;
            }
            rules.end(waiter, Result.GAVE_UP, client.nanoTime());
            return true;
        } finally {
            gate.leave();
        }
    }

    /**
     * The time of a call is up: it ends by what is known of the lock at that moment.
     *
     * @return false if nothing is known yet because the engine's first answer is not there: the call must look again, until
     *     the request timeout
     */
    boolean timeUp(Waiter waiter) {
        long contact = client.backend().lastContactNanos();
        gate.post(() -> {
            long now = client.nanoTime();
            if (!waiter.isOver() && waiter.isOffered()) {
                waiter.takeOffer();
                rules.decide(waiter, now); // a grant came just before the time was up
            }
            Result answer = waiter.isOver() ? null : rules.answers.timeUp(waiter, contact, now);
            if (answer != null) {
                rules.end(waiter, answer, now);
            }
        });
        return waiter.isOver();
    }

    // ---------------------------------------------------------------- looks of the watches

    /** Deadlines may be past. */
    public void checkDeadlines(long now) {
        gate.post(() -> {
            rules.losses.loseWhatIsPast(now);
            rules.decide(now);
        });
    }

    /**
     * The engine may be unreachable: ends the waits without a deadline of their own that have seen no contact for too
     * long, or for which the engine could not be asked for so long.
     *
     * @param lastContact when the engine last answered
     * @param earliest since when it owes an answer
     * @return how long until the next of these waits ends if the engine stays silent; 0 if nobody waits
     */
    public long checkOutage(long now, long lastContact, long earliest) {
        gate.enter();
        try {
            long left = rules.answers.endForOutage(now, lastContact, earliest);
            rules.decide(now);
            return state.queue.isEmpty() ? 0 : left;
        } finally {
            gate.leave();
        }
    }

    // ---------------------------------------------------------------- releasing

    /**
     * The owner of a hold releases it.
     *
     * @return the engine's answer; null if it need not be asked, because the grant stays here
     * @throws LockLostException if the hold had been lost
     */
    @Nullable
    CompletableFuture<Boolean> release(Hold hold, Duration blockAtMost) {
        HoldRelease release = new HoldRelease(hold, blockAtMost);
        release(release);
        return release.answer();
    }

    /** Likewise; the engine's answer is in the release once it has been asked. */
    void release(HoldRelease release) {
        Hold hold = release.hold;
        gate.enter();
        try {
            long now = rules.engineShowsLoss(hold) ? hold.passage.sentNanos() : client.nanoTime();
            rules.losses.loseIfPast(hold, now);
            if (!hold.isOpen()) {
                state.owners.forgetLost(hold);
                throw hold.lostException();
            }
            rules.release(release, now);
        } finally {
            gate.leave();
        }
    }

    /** The engine has confirmed the release of a hold. */
    void confirmed(Hold hold) {
        if (hold.endRelease(Hold.Release.RELEASED)) {
            client.events().released(name, hold.mode, client.nanoTime() - hold.sinceNanos);
        }
    }

    /** The engine has not confirmed the release of a hold, and its owner waits no longer. False if the hold has an end. */
    boolean unconfirmed(Hold hold) {
        if (!hold.endRelease(Hold.Release.UNCONFIRMED)) {
            return false;
        }
        client.events().unconfirmed(name, hold.mode, client.nanoTime() - hold.sinceNanos);
        return true;
    }

    // ---------------------------------------------------------------- asking

    /** The hold of a thread in a mode, lost ones included; null if it has none. */
    public @Nullable Hold holdOf(Thread thread, LockMode mode) {
        Hold own = mode == LockMode.EXCLUSIVE ? state.owners.writer(thread) : null;
        if (own != null) {
            return own;
        }
        gate.enter();
        try {
            own = mode == LockMode.SHARED ? state.owners.reader(thread) : null;
            return own != null ? own : state.owners.lost(thread, mode);
        } finally {
            gate.leave();
        }
    }

    /** Draws the token of a hold, if it is the current one. */
    public long drawToken(Hold hold) {
        gate.enter();
        try {
            rules.losses.loseIfPast(hold, client.nanoTime());
            if (hold.isOpen()) {
                return hold.draw();
            }
        } finally {
            gate.leave();
        }
        if (hold.isReleased()) {
            throw new IllegalStateException("Lock '" + name
                    + "': the hold was released before its token was requested. Request it while holding the lock.");
        }
        throw hold.lostException();
    }

    public void onLost(Hold hold, Consumer<LossReason> action) {
        gate.post(() -> {
            LossReason reason = hold.loss();
            if (reason != null) {
                rules.effects.add(new Effect.RunLossAction(action, reason));
            } else if (hold.isOpen()) {
                hold.addLossAction(action);
            }
        });
    }

    /** Reads the state, without a change that others wait for. */
    <T extends @Nullable Object> T read(Function<TurnstileState, T> look) {
        gate.enter();
        try {
            return look.apply(state);
        } finally {
            gate.leave();
        }
    }

    /** The earliest deadline here, or {@code latest} if none is before it. */
    public long earliestDeadline(long latest) {
        return read(known -> known.earliestDeadline(latest));
    }

    /** Every hold, to look at. */
    public List<Hold> holds() {
        return read(TurnstileState::holds);
    }

    /** Every call that waits, in order, to look at. */
    public List<Waiter> waiters() {
        return read(TurnstileState::waiters);
    }

    /** Whether a call waits. May be called without the mutex. */
    public boolean hasWaiters() {
        return state.queue.isAwaited();
    }

    // ---------------------------------------------------------------- ending

    /** Frees this turnstile if nobody uses it. */
    boolean retire() {
        return read(TurnstileState::retire);
    }

    /** The client closes: everything is given up. Done when the engine has confirmed it. */
    public CompletableFuture<Void> close() {
        CompletableFuture<Void> done = new CompletableFuture<>();
        gate.post(() -> rules.close(done, client.nanoTime()));
        return done;
    }
}
