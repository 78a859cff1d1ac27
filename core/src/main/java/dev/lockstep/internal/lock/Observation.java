package dev.lockstep.internal.lock;

import dev.lockstep.LockLostException;
import dev.lockstep.LockMode;
import dev.lockstep.LockObserver;
import dev.lockstep.LockObserver.CallEnd;
import dev.lockstep.LockObserver.CallOutcome;
import dev.lockstep.LockObserver.HoldEnd;
import dev.lockstep.LockObserver.HoldOutcome;
import dev.lockstep.LockOptions;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.LossReason;
import dev.lockstep.internal.concurrent.WaitReport;
import dev.lockstep.internal.events.Observers;
import dev.lockstep.internal.turnstile.Call;
import dev.lockstep.internal.turnstile.Hold;
import dev.lockstep.internal.turnstile.Waiter;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The notifications of observers about one call and the resulting hold: each once, and the end of the call first. A
 * hold may be lost before its call has returned; its end is then reported by the call. Not used unless there are
 * observers.
 *
 * <p>Called without the mutex. Safe for use by many threads.
 */
final class Observation extends AtomicInteger implements LockObserver.Call, CallEnd, Hold.Observer {
    // Extends AtomicInteger (the state), and is also the end of a call that has acquired the lock: every call makes
    // one, so
    // that it is one object.
    private static final long serialVersionUID = 1L;

    private static final int CALLING = 0;
    private static final int HOLDING = 1;

    /** The hold has ended, or there was none. */
    private static final int ENDED = 2;

    private static final EndOfHold RELEASED =
            new EndOfHold(HoldOutcome.RELEASED, Optional.empty(), OptionalLong.empty());
    private static final End REENTERED = new End(CallOutcome.REENTERED, Optional.empty());

    private final transient TurnstileLock lock;
    private final long waitNanos;
    private final boolean async;
    private transient Observers.Followed observer = Observers.Followed.NONE;

    /** The hold that the call got; null before. Written and read while the end of the call is reported. */
    private transient @Nullable Hold hold;

    /** Whether the executor may report something of the call. Written by the thread of the call. */
    private boolean elsewhere;

    /** Only if the executor may report something of the call; guarded by this, as the next. */
    private boolean callEnded;

    private transient @Nullable WaitReport waits;

    private Observation(TurnstileLock lock, long waitNanos, boolean async) {
        this.lock = lock;
        this.waitNanos = waitNanos;
        this.async = async;
        this.elsewhere = async;
    }

    /** A call for one lock starts, in its own thread. Null if nobody observes it. */
    static @Nullable Observation start(Observers observers, TurnstileLock lock, long waitNanos, boolean async) {
        Observation observation = startFirst(observers, lock, waitNanos, async);
        return observation == null || observation.observer.isNothing() ? null : observation;
    }

    /** The same if further calls may follow it: observers may want to know of those only. Null if there are none. */
    static @Nullable Observation startFirst(Observers observers, TurnstileLock lock, long waitNanos, boolean async) {
        if (!observers.isAny()) {
            return null;
        }
        Observation observation = new Observation(lock, waitNanos, async);
        observation.observer = observers.started(observation);
        return observation;
    }

    /** This call continues with a further lock. By any thread. */
    Observation next(TurnstileLock further, long leftNanos) {
        Observation next = new Observation(further, leftNanos, async);
        next.observer = observer.next(next);
        return next;
    }

    /** The call has no result yet: reports that it waits when the engine has said so, which may be known. By its thread. */
    void mayWait(Waiter waiter) {
        if (waitNanos == Call.NOT_AT_ALL) {
            return;
        }
        elsewhere = true;
        if (waiter.reportWait(this::waiting)) {
            waiting();
        }
    }

    /** The call must wait. Nothing happens if it has ended, or this was said before. */
    private void waiting() {
        WaitReport report = new WaitReport();
        synchronized (this) {
            if (callEnded || waits != null) {
                return;
            }
            waits = report;
        }
        report.run(observer::waiting);
    }

    private void end(CallEnd end) {
        if (elsewhere) {
            WaitReport before;
            synchronized (this) {
                callEnded = true;
                before = waits;
            }
            if (before != null) {
                before.await();
            }
        }
        observer.callEnded(end);
    }

    /** The call has the lock. From now on the end of the hold is reported, if it is not over already. */
    void acquired(Hold begun) {
        if (begun.count() > 0) {
            end(REENTERED);
            return;
        }
        hold = begun;
        begun.observe(this);
        end(this);
        if (!compareAndSet(CALLING, HOLDING)) {
            report(begun);
        } else if (begun.loss() != null) {
            holdEnded(begun); // lost before it was known to be observed
        }
    }

    // ---------------------------------------------------------------- the end of a call that has the lock

    @Override
    public CallOutcome outcome() {
        return CallOutcome.ACQUIRED;
    }

    @Override
    public Optional<Throwable> failure() {
        return Optional.empty();
    }

    @Override
    public OptionalLong token() {
        Hold begun = hold;
        if (begun == null || begun.isForeign()) {
            return OptionalLong.empty();
        }
        try {
            return OptionalLong.of(begun.turnstile.drawToken(begun));
        } catch (LockLostException | IllegalStateException e) {
            return OptionalLong.empty();
        }
    }

    /** The call did not get the lock. */
    void ended(CallOutcome outcome, @Nullable Throwable failure) {
        end(new End(outcome, Optional.ofNullable(failure)));
    }

    /** The call did not get the lock because another caller has it. */
    void refused() {
        ended(waitNanos == Call.NOT_AT_ALL ? CallOutcome.BUSY : CallOutcome.TIMED_OUT, null);
    }

    void failed(Throwable failure) {
        CallOutcome outcome;
        if (failure instanceof InterruptedException) {
            outcome = CallOutcome.INTERRUPTED;
        } else {
            outcome = failure instanceof LockUnavailableException ? CallOutcome.UNAVAILABLE : CallOutcome.FAILED;
        }
        ended(outcome, failure);
    }

    /** The hold has its end, which does not change any more. May be called more than once. */
    @Override
    public void holdEnded(Hold hold) {
        int before = getAndSet(ENDED);
        if (before == HOLDING) {
            report(hold);
        }
    }

    private void report(Hold hold) {
        long drawn = hold.drawnToken();
        LossReason loss = hold.loss();
        HoldOutcome outcome = HoldOutcome.RELEASED;
        if (loss != null) {
            outcome = HoldOutcome.LOST;
        } else if (hold.isUnconfirmed()) {
            outcome = HoldOutcome.UNCONFIRMED;
        }
        boolean usual = outcome == HoldOutcome.RELEASED && drawn == 0;
        observer.holdEnded(
                usual
                        ? RELEASED
                        : new EndOfHold(
                                outcome,
                                Optional.ofNullable(loss),
                                drawn == 0 ? OptionalLong.empty() : OptionalLong.of(drawn)));
    }

    private record End(CallOutcome outcome, Optional<Throwable> failure) implements CallEnd {}

    private record EndOfHold(HoldOutcome outcome, Optional<LossReason> lossReason, OptionalLong token)
            implements HoldEnd {}

    /** Only an election asks for a lock under another name than its thread's. */
    @Override
    public LockObserver.CallKind kind() {
        return lock.isOfElection() ? LockObserver.CallKind.TERM : LockObserver.CallKind.LOCK;
    }

    @Override
    public String lockName() {
        return lock.name();
    }

    @Override
    public LockMode mode() {
        return lock.mode();
    }

    @Override
    public LockOptions options() {
        return lock.options();
    }

    @Override
    public Optional<Duration> maxWait() {
        return waitNanos == Call.NO_LIMIT ? Optional.empty() : Optional.of(Duration.ofNanos(waitNanos));
    }

    @Override
    public boolean isAsync() {
        return async;
    }

    @Override
    public String toString() {
        return "Call[" + lock.name() + ", " + lock.mode() + (async ? ", async" : "") + ", maxWait="
                + maxWait().map(Duration::toString).orElse("none") + "]";
    }
}
