package dev.lockstep.internal.lock;

import dev.lockstep.LockMode;
import dev.lockstep.LockObserver;
import dev.lockstep.LockObserver.CallEnd;
import dev.lockstep.LockObserver.CallObserver;
import dev.lockstep.LockObserver.CallOutcome;
import dev.lockstep.LockObserver.HoldEnd;
import dev.lockstep.LockObserver.HoldOutcome;
import dev.lockstep.LockOptions;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.LossReason;
import dev.lockstep.internal.events.Observers;
import dev.lockstep.internal.turnstile.Call;
import dev.lockstep.internal.turnstile.Hold;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * What observers see of one call and of the hold that comes of it: each once, and the end of the call first. A hold may be
 * lost before its call has returned; its end is then reported by the call. Not used unless somebody observes.
 *
 * <p>Called without the mutex. Safe for use by many threads.
 */
final class Observation extends AtomicInteger implements LockObserver.Call, Hold.Observer {
    // Extends AtomicInteger (the state) to be one object: there is one for every call.
    private static final long serialVersionUID = 1L;

    private static final int CALLING = 0;
    private static final int HOLDING = 1;

    /** The hold has ended, or there was none. */
    private static final int ENDED = 2;

    private static final End ACQUIRED = new End(CallOutcome.ACQUIRED, Optional.empty());
    private static final End REENTERED = new End(CallOutcome.REENTERED, Optional.empty());

    private final transient TurnstileLock lock;
    private final long waitNanos;
    private final boolean async;
    private transient CallObserver observer = CallObserver.NONE;

    /** Only of an asynchronous call; guarded by this. */
    private boolean callEnded;

    private Observation(TurnstileLock lock, long waitNanos, boolean async) {
        this.lock = lock;
        this.waitNanos = waitNanos;
        this.async = async;
    }

    /** A call starts, in its own thread. Null if nobody observes. */
    static @Nullable Observation start(Observers observers, TurnstileLock lock, long waitNanos, boolean async) {
        if (!observers.isAny()) {
            return null;
        }
        Observation observation = new Observation(lock, waitNanos, async);
        observation.observer = observers.started(observation);
        return observation;
    }

    void waiting() {
        if (!async) {
            observer.waiting();
            return;
        }
        synchronized (this) { // the executor may end the call at this moment
            if (!callEnded) {
                observer.waiting();
            }
        }
    }

    private void end(CallEnd end) {
        if (!async) {
            observer.callEnded(end);
            return;
        }
        synchronized (this) {
            callEnded = true;
            observer.callEnded(end);
        }
    }

    /** The call has the lock. From now on the end of the hold is reported, if it is not over already. */
    void acquired(Hold hold) {
        if (hold.count() > 0) {
            end(REENTERED);
            return;
        }
        hold.observe(this);
        end(ACQUIRED);
        if (!compareAndSet(CALLING, HOLDING)) {
            report(hold);
        } else if (hold.loss() != null) {
            holdEnded(hold); // lost before anybody knew that it is observed
        }
    }

    /** The call did not get the lock. */
    void ended(CallOutcome outcome, @Nullable Throwable failure) {
        end(new End(outcome, Optional.ofNullable(failure)));
    }

    /** The call did not get the lock because somebody else has it. */
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
        observer.holdEnded(new EndOfHold(
                outcome, Optional.ofNullable(loss), drawn == 0 ? OptionalLong.empty() : OptionalLong.of(drawn)));
    }

    private record End(CallOutcome outcome, Optional<Throwable> failure) implements CallEnd {}

    private record EndOfHold(HoldOutcome outcome, Optional<LossReason> lossReason, OptionalLong token)
            implements HoldEnd {}

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
        return waitNanos == Call.FOREVER ? Optional.empty() : Optional.of(Duration.ofNanos(waitNanos));
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
