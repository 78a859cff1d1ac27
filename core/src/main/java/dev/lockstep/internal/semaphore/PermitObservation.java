package dev.lockstep.internal.semaphore;

import dev.lockstep.LockMode;
import dev.lockstep.LockObserver;
import dev.lockstep.LockObserver.CallObserver;
import dev.lockstep.LockObserver.CallOutcome;
import dev.lockstep.LockObserver.HoldOutcome;
import dev.lockstep.LockOptions;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.LossReason;
import dev.lockstep.internal.concurrent.WaitReport;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * The notifications of observers about one call and its permit: each once, and the end of the call first. A permit may
 * be lost before its call has returned; its end is then reported by the call. Safe for use by many threads.
 */
final class PermitObservation implements LockObserver.Call {
    private final PermitTerms terms;
    private CallObserver observer = CallObserver.NONE;

    // Guarded by this.
    private @Nullable WaitReport waits;
    private boolean callEnded;
    private boolean acquired;
    private @Nullable EndOfHold end;

    private PermitObservation(PermitTerms terms) {
        this.terms = terms;
    }

    static PermitObservation start(SemaphoreHost host, PermitTerms terms) {
        PermitObservation observation = new PermitObservation(terms);
        CallObserver observer = host.observe(observation);
        if (observer != null) {
            observation.observer = observer;
        }
        return observation;
    }

    boolean isObserved() {
        return observer != CallObserver.NONE;
    }

    /** The call must wait. Nothing happens if it has ended, or this was said before. */
    void waiting() {
        WaitReport report = new WaitReport();
        synchronized (this) {
            if (callEnded || waits != null) {
                return; // the executor may end an asynchronous call at this moment
            }
            waits = report;
        }
        report.run(observer::waiting);
    }

    /** The call has its permit. */
    void acquired(long token) {
        ended(new EndOfCall(CallOutcome.ACQUIRED, Optional.empty(), OptionalLong.of(token)));
        EndOfHold already;
        synchronized (this) {
            acquired = true;
            already = end;
        }
        if (already != null) {
            observer.holdEnded(already);
        }
    }

    void refused() {
        ended(terms.mayWait() ? CallOutcome.TIMED_OUT : CallOutcome.BUSY, null);
    }

    void cancelled() {
        ended(CallOutcome.CANCELLED, null);
    }

    void failed(Throwable failure) {
        if (failure instanceof InterruptedException) {
            ended(CallOutcome.INTERRUPTED, failure);
        } else {
            boolean away = failure instanceof LockUnavailableException;
            ended(away ? CallOutcome.UNAVAILABLE : CallOutcome.FAILED, failure);
        }
    }

    private void ended(CallOutcome outcome, @Nullable Throwable failure) {
        ended(new EndOfCall(outcome, Optional.ofNullable(failure), OptionalLong.empty()));
    }

    private void ended(EndOfCall how) {
        WaitReport before;
        synchronized (this) {
            callEnded = true;
            before = waits;
        }
        if (before != null) {
            before.await();
        }
        observer.callEnded(how);
    }

    /** The permit has its end, which does not change any more. May be called more than once. */
    void holdEnded(PermitEnd how, long token) {
        EndOfHold known = new EndOfHold(how.outcome(), how.reason(), OptionalLong.of(token));
        boolean report;
        synchronized (this) {
            report = acquired && end == null;
            end = known;
        }
        if (report) {
            observer.holdEnded(known);
        }
    }

    private record EndOfCall(CallOutcome outcome, Optional<Throwable> failure, OptionalLong token)
            implements LockObserver.CallEnd {}

    private record EndOfHold(HoldOutcome outcome, Optional<LossReason> lossReason, OptionalLong token)
            implements LockObserver.HoldEnd {}

    @Override
    public LockObserver.CallKind kind() {
        return LockObserver.CallKind.PERMIT;
    }

    @Override
    public String lockName() {
        return terms.name();
    }

    @Override
    public LockMode mode() {
        return LockMode.SHARED;
    }

    @Override
    public LockOptions options() {
        return terms.options();
    }

    @Override
    public Optional<Duration> maxWait() {
        return terms.maxWait();
    }

    @Override
    public boolean isAsync() {
        return terms.async();
    }

    @Override
    public String toString() {
        return "Call[" + terms.name() + ", " + terms.count() + " of " + terms.limit() + " permits]";
    }
}
