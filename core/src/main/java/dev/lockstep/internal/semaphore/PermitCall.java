package dev.lockstep.internal.semaphore;

import dev.lockstep.ClientSnapshot;
import dev.lockstep.HolderInfo;
import dev.lockstep.LockMode;
import dev.lockstep.LockOptions;
import dev.lockstep.LossReason;
import dev.lockstep.internal.semaphore.SemaphoreHost.Event;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.Grant;
import dev.lockstep.spi.GrantListener;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One call for permits, and the permits that come of it: one claim's way through the engine. */
final class PermitCall implements ClaimRequest, GrantListener {
    /*
     * Overview. A call makes one claim, and nobody shares it.
     *
     *   CLAIMING ──▶ HELD ──▶ RELEASING ──▶ GONE
     *      └──▶ WITHDRAWING ──▶ GONE
     *
     * The result of the call is known once: the permits, BUSY, GAVE_UP or a Failure. A call that gives up has its result
     * when the engine has confirmed the withdrawal, or after the request timeout; one that fails has it at once, and the
     * withdrawal goes on. A grant that comes when the state is not CLAIMING any more raced the withdrawal, and is the
     * backend's to release.
     *
     * The end of the hold is known once, too: an End, or a LossReason. Whoever looks at the hold looks at the clock first.
     *
     * Fields are guarded by this. Nothing of others' is called while it is held.
     */

    /** The result if others have the permits. */
    static final Object BUSY = new Object();

    /** The result of a call that was interrupted or cancelled. */
    static final Object GAVE_UP = new Object();

    static final long FOREVER = -1;
    static final long NOT_AT_ALL = 0;

    /** How soon to look again whether the engine has answered a call whose time is up. */
    private static final long LOOK_AGAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    private static final Logger log = LoggerFactory.getLogger(PermitCall.class);

    /** Why a call failed; the exception is made in its own thread. */
    @FunctionalInterface
    interface Failure {
        RuntimeException toException();
    }

    enum State {
        CLAIMING,
        HELD,
        RELEASING,
        WITHDRAWING,
        GONE
    }

    /** How a hold ends whose owner releases it. */
    enum End {
        RELEASED,
        /** The engine has not answered in time. */
        UNCONFIRMED
    }

    /**
     * What is asked for.
     *
     * @param limit how many permits there are
     * @param count how many the call wants
     */
    record Terms(String name, int limit, int count, LockOptions options) {}

    private final Semaphores semaphores;
    private final SemaphoreHost host;
    private final Terms terms;
    private final long waitNanos;
    private final Duration blockAtMost;
    private final long number;
    private final String threadName;
    private final @Nullable Thread thread;
    private final long startNanos;
    private final long startMonotonicNanos;
    private final PermitObservation observation;
    private final CompletableFuture<Object> result = new CompletableFuture<>();
    private final CompletableFuture<Void> gone = new CompletableFuture<>();

    private State state = State.CLAIMING;
    private @Nullable Claim claim;

    /** Whether the call to the backend has returned or failed: one that has not withdraws its claim when it does. */
    private boolean submitted;

    private @Nullable Grant grant;
    private @Nullable Grant lostGrant;
    private @Nullable LossReason toldLoss;
    private long sinceNanos;
    private long owedSinceNanos;
    private @Nullable Object end;
    private @Nullable HolderInfo holder;
    private final List<Consumer<LossReason>> lossActions = new ArrayList<>(1);

    PermitCall(Semaphores semaphores, Terms terms, long waitNanos, Duration blockAtMost, boolean async) {
        this.semaphores = semaphores;
        this.host = semaphores.host();
        this.terms = terms;
        this.waitNanos = waitNanos;
        this.blockAtMost = blockAtMost;
        this.number = semaphores.newNumber();
        this.thread = async ? null : Thread.currentThread();
        this.threadName = Thread.currentThread().getName();
        this.startNanos = host.scheduler().nanoTime();
        this.startMonotonicNanos = host.scheduler().monotonicNanos();
        this.observation = PermitObservation.start(host, terms, waitNanos, async);
    }

    // ---------------------------------------------------------------- acquiring

    long number() {
        return number;
    }

    PermitObservation observation() {
        return observation;
    }

    CompletableFuture<Object> result() {
        return result;
    }

    /** Asks the engine. May block for its one round trip. */
    void start() {
        semaphores.add(this);
        Claim made = null;
        CompletionStage<Outcome> answer;
        try {
            made = host.backend().submit(this);
            answer = made.outcome();
        } catch (RuntimeException | Error e) {
            answer = CompletableFuture.failedFuture(e);
        }
        boolean late;
        synchronized (this) {
            claim = made;
            submitted = true;
            late = state == State.WITHDRAWING;
        }
        if (late) {
            withdraw(made);
        }
        answer.whenComplete(this::answered);
        if (!result.isDone()) {
            observation.waiting();
            host.watchOutage(startNanos);
        }
    }

    /** Waits in the calling thread for the result. */
    Object await(boolean interruptible) throws InterruptedException {
        boolean interrupted = false;
        long bound = waitNanos == NOT_AT_ALL ? host.requestTimeout().toNanos() : waitNanos;
        long endNanos = startMonotonicNanos + bound;
        while (!result.isDone()) {
            try {
                if (waitNanos == FOREVER) {
                    result.get();
                } else {
                    long left = endNanos - host.scheduler().monotonicNanos();
                    result.get(Math.max(left, 0), TimeUnit.NANOSECONDS);
                }
            } catch (TimeoutException e) {
                long next = isTimeUp() ? 2 * host.requestTimeout().toNanos() : LOOK_AGAIN_NANOS;
                endNanos = host.scheduler().monotonicNanos() + next;
            } catch (InterruptedException e) {
                interrupted = true;
                if (interruptible) {
                    giveUp(GAVE_UP);
                }
            } catch (ExecutionException e) {
                throw new AssertionError("the result never fails", e);
            }
        }
        Object known = result.join();
        if (known == GAVE_UP) {
            throw new InterruptedException("Interrupted while acquiring semaphore '" + terms.name() + "'");
        }
        if (interrupted) {
            Thread.currentThread().interrupt(); // it came too late, or is not for this call
        }
        return known;
    }

    /** Gives the call up if its time is up and that can be answered; false if the engine's first answer may be on its way. */
    boolean isTimeUp() {
        Claim known;
        synchronized (this) {
            if (state != State.CLAIMING) {
                return true;
            }
            known = claim;
        }
        long now = host.scheduler().nanoTime();
        long contact = host.backend().lastContactNanos();
        long timeout = host.requestTimeout().toNanos();
        boolean recent = contact - startNanos >= 0 || now - contact <= timeout;
        if (mayWait() && recent && known != null && known.mustWait()) {
            giveUp(refused(now));
            return true;
        }
        if (now - startNanos < timeout) {
            return false;
        }
        giveUp((Failure) () -> host.unavailable(terms.name(), now - startNanos));
        return true;
    }

    /** The answer to a call that the engine refused: unknown if one of this client may be the reason. */
    private Object refused(long now) {
        return semaphores.isOwed(terms.name(), now) ? (Failure) () -> host.unconfirmed(terms.name()) : BUSY;
    }

    private void answered(@Nullable Outcome outcome, @Nullable Throwable error) {
        if (outcome instanceof Outcome.Granted granted) {
            granted(granted.grant());
        } else if (outcome instanceof Outcome.Busy) {
            synchronized (this) {
                if (state != State.CLAIMING) {
                    return;
                }
                state = State.GONE;
            }
            forget();
            result.complete(refused(host.scheduler().nanoTime()));
        } else {
            giveUp((Failure) () -> host.failure(terms.name(), error));
        }
    }

    private void granted(Grant given) {
        LossReason told;
        synchronized (this) {
            if (state != State.CLAIMING) {
                return;
            }
            state = State.HELD;
            grant = given;
            sinceNanos = host.scheduler().nanoTime();
            told = lostGrant == given ? toldLoss : null;
        }
        host.publish(Event.ACQUIRED, terms.name(), sinceNanos - startNanos, null);
        watchDeadline();
        result.complete(this);
        if (told != null) {
            lose(told);
        }
    }

    /**
     * Gives the claim up.
     *
     * @param answer the result: at once if it is a {@link Failure}, otherwise when the engine has confirmed
     * @return false if the call has its result, or has given up before
     */
    boolean giveUp(Object answer) {
        Claim known;
        boolean returned;
        synchronized (this) {
            if (state != State.CLAIMING) {
                return false;
            }
            state = State.WITHDRAWING;
            owedSinceNanos = host.scheduler().nanoTime();
            known = claim;
            returned = submitted;
        }
        if (answer instanceof Failure) {
            result.complete(answer);
        } else {
            var timer = host.scheduler().schedule(host.requestTimeout().toNanos(), () -> result.complete(answer));
            gone.whenComplete((done, error) -> {
                timer.cancel();
                result.complete(answer);
            });
        }
        if (returned) {
            withdraw(known);
        }
        return true;
    }

    /** Null if the engine was not asked, since the call to it failed. */
    private void withdraw(@Nullable Claim known) {
        CompletionStage<Void> withdrawn = known == null
                ? CompletableFuture.completedFuture(null)
                : guarded(() -> known.withdraw(LockBackend.DO_NOT_BLOCK));
        withdrawn.whenComplete((done, error) -> {
            synchronized (this) {
                state = State.GONE;
            }
            forget();
        });
    }

    private void forget() {
        semaphores.remove(this);
        gone.complete(null);
    }

    private static <T extends @Nullable Object> CompletionStage<T> guarded(Supplier<CompletionStage<T>> request) {
        try {
            return request.get();
        } catch (RuntimeException | Error e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    // ---------------------------------------------------------------- holding

    Grant heldGrant() {
        Grant known = grant;
        if (known == null) {
            throw new IllegalStateException("Semaphore '" + terms.name() + "' has no permit in state " + state);
        }
        return known;
    }

    /** Until when the permits are good if nothing renews them. While held. */
    private long deadlineNanos() {
        long granted = heldGrant().validUntilNanos();
        long longest =
                sinceNanos + terms.options().maxHold().map(Duration::toNanos).orElse(Long.MAX_VALUE / 2);
        return longest - granted < 0 ? longest : granted;
    }

    /** How long the permits are good; zero if they are over. The first look after a pause finds the deadline. */
    synchronized long remainingNanos(long now) {
        return state == State.HELD ? Math.max(deadlineNanos() - now, 0) : 0;
    }

    boolean isValid() {
        long now = host.scheduler().nanoTime();
        if (remainingNanos(now) > 0) {
            return true;
        }
        checkDeadline(now);
        return false;
    }

    /** Loses what is past its deadline. */
    void checkDeadline(long now) {
        LossReason reason;
        synchronized (this) {
            if (state != State.HELD || now - deadlineNanos() < 0) {
                return;
            }
            boolean expired = now - heldGrant().validUntilNanos() >= 0;
            reason = expired ? LossReason.EXPIRED : LossReason.MAX_HOLD_REACHED;
        }
        lose(reason);
    }

    void watchDeadline() {
        long deadline;
        synchronized (this) {
            if (state != State.HELD) {
                return;
            }
            deadline = deadlineNanos();
        }
        host.watchDeadline(deadline);
    }

    @Override
    public void lost(Grant ended, LossReason reason) {
        synchronized (this) {
            lostGrant = ended;
            toldLoss = reason;
            if (state != State.HELD || grant != ended) {
                return;
            }
        }
        lose(reason);
    }

    @Override
    public void wanted(Grant blocking) {
        // A permit is released by its holder alone.
    }

    /** Ends the hold as lost, and lets the backend clear up. */
    private void lose(LossReason reason) {
        List<Consumer<LossReason>> actions;
        synchronized (this) {
            if (state != State.HELD) {
                return;
            }
            state = State.RELEASING;
            owedSinceNanos = host.scheduler().nanoTime();
            end = reason;
            actions = takeLossActions();
        }
        report(reason, actions);
        guarded(() -> heldGrant().release(LockBackend.DO_NOT_BLOCK)).whenComplete((done, error) -> released());
    }

    private void released() {
        synchronized (this) {
            state = State.GONE;
        }
        forget();
    }

    /** The hold has its end, if it had none: an {@link End} or a {@link LossReason}. */
    private void ended(Object how) {
        List<Consumer<LossReason>> actions;
        synchronized (this) {
            if (end != null) {
                return;
            }
            end = how;
            actions = takeLossActions();
        }
        report(how, actions);
    }

    private List<Consumer<LossReason>> takeLossActions() {
        List<Consumer<LossReason>> actions = List.copyOf(lossActions);
        lossActions.clear();
        return actions;
    }

    /** Lets everybody know how the hold has ended. */
    private void report(Object how, List<Consumer<LossReason>> actions) {
        long held = host.scheduler().nanoTime() - sinceNanos;
        if (how instanceof LossReason reason) {
            log.warn(
                    "Semaphore '{}': a permit was lost: {} ({}). It had been held for {} ms, with token {}",
                    terms.name(),
                    reason.explanation(),
                    reason,
                    held / 1_000_000,
                    token());
            host.publish(Event.LOST, terms.name(), held, reason);
            actions.forEach(action -> host.runLossAction(terms.name(), action, reason));
        } else {
            host.publish(how == End.RELEASED ? Event.RELEASED : Event.UNCONFIRMED, terms.name(), held, null);
        }
        observation.holdEnded(how, token());
    }

    /** The end of the hold; null while it is held, or its release is on its way. */
    synchronized @Nullable Object end() {
        return end;
    }

    void onLost(Consumer<LossReason> action) {
        isValid();
        LossReason reason;
        synchronized (this) {
            if (end == null) {
                lossActions.add(action);
                return;
            }
            reason = end instanceof LossReason known ? known : null;
        }
        if (reason != null) {
            host.runLossAction(terms.name(), action, reason);
        }
    }

    long token() {
        return host.token(heldGrant().token());
    }

    // ---------------------------------------------------------------- releasing

    /** Releases the permits. Done when the hold has its end; nothing happens if it is over. */
    CompletableFuture<Void> release(Duration block) {
        isValid();
        synchronized (this) {
            if (state != State.HELD) {
                return CompletableFuture.completedFuture(null);
            }
            state = State.RELEASING;
            owedSinceNanos = host.scheduler().nanoTime();
        }
        CompletableFuture<Void> done = new CompletableFuture<>();
        guarded(() -> heldGrant().release(block)).whenComplete((known, error) -> {
            ended(error != null ? End.UNCONFIRMED : known ? End.RELEASED : lossBefore());
            released();
            done.complete(null);
        });
        return done;
    }

    /** Why the engine had ended what was to be released. */
    private LossReason lossBefore() {
        synchronized (this) {
            if (toldLoss != null && lostGrant == grant) {
                return toldLoss;
            }
        }
        boolean past = host.scheduler().nanoTime() - heldGrant().validUntilNanos() >= 0;
        return past ? LossReason.EXPIRED : LossReason.REVOKED;
    }

    /** The engine has not confirmed the release in time. */
    void unconfirmed() {
        ended(End.UNCONFIRMED);
    }

    // ---------------------------------------------------------------- for the client

    synchronized boolean isClaiming() {
        return state == State.CLAIMING;
    }

    synchronized boolean isOwed(long now) {
        return (state == State.RELEASING || state == State.WITHDRAWING)
                && now - owedSinceNanos >= host.requestTimeout().toNanos();
    }

    void checkOutage(long now, long answeredNanos) {
        long since = answeredNanos - startNanos > 0 ? answeredNanos : startNanos;
        boolean timed = waitNanos != FOREVER && !host.timedCallsFailFast();
        if (!timed && now - since >= host.patienceNanos()) {
            giveUp((Failure) () -> host.unavailable(terms.name(), now - since));
        }
    }

    /** The client closes: a call that waits fails. */
    void closeWaiting() {
        giveUp((Failure) () -> host.closedWhileWaiting(terms.name()));
    }

    /** The client closes: a permit is lost. Done when the engine knows nothing of this any more. */
    CompletableFuture<Void> closeHeld() {
        lose(LossReason.CLIENT_CLOSED);
        return gone;
    }

    void addTo(List<ClientSnapshot.Use> holds, List<ClientSnapshot.Use> waiters, long now) {
        synchronized (this) {
            if (state == State.HELD) {
                holds.add(PermitUse.of(terms.name(), null, now - sinceNanos, token()));
            } else if (state == State.CLAIMING) {
                waiters.add(PermitUse.of(terms.name(), thread, now - startNanos, 0));
            }
        }
    }

    SemaphoreHost host() {
        return host;
    }

    // ---------------------------------------------------------------- the claim

    @Override
    public String name() {
        return terms.name();
    }

    @Override
    public LockMode mode() {
        return LockMode.SHARED;
    }

    @Override
    public OptionalInt limit() {
        return OptionalInt.of(terms.limit());
    }

    @Override
    public int permits() {
        return terms.count();
    }

    @Override
    public boolean mayWait() {
        return waitNanos != NOT_AT_ALL;
    }

    @Override
    public boolean mayBarge() {
        return !terms.options().isFair();
    }

    @Override
    public Duration blockAtMost() {
        return blockAtMost;
    }

    @Override
    public String claimId() {
        return host.claimId(number);
    }

    @Override
    public synchronized HolderInfo holder() {
        HolderInfo known = holder;
        if (known == null) {
            known = host.holder(threadName, startNanos);
            holder = known;
        }
        return known;
    }

    @Override
    public GrantListener listener() {
        return this;
    }

    @Override
    public long sentNanos() {
        return startNanos;
    }
}
