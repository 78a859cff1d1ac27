package dev.lockstep.internal.semaphore;

import dev.lockstep.HolderInfo;
import dev.lockstep.LockInfo;
import dev.lockstep.LockObserver;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.LossReason;
import dev.lockstep.internal.concurrent.ThreadName;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Scheduler;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The functions that semaphores need from their client. Safe for use by many threads. */
public interface SemaphoreHost {
    LockBackend backend();

    Scheduler scheduler();

    Duration requestTimeout();

    /** How long a call without a deadline of its own waits for an engine that does not answer. */
    long patienceNanos();

    /** Since when the engine owes an answer; now if it owes none. */
    long engineOwesSince(long now);

    /** Whether an outage ends calls that have a deadline of their own, too. */
    boolean timedCallsFailFast();

    /** The id of a claim that has a number. */
    String claimId(long number);

    /** The calling thread as others see it. */
    ThreadName threadName();

    /** The caller, for people to read. */
    HolderInfo holder(ThreadName threadName, long sentNanos);

    /** The token of a lease, made of the engine's. */
    long token(long granted);

    LockInfo inspect(String name);

    void ensureOpen();

    /** Runs users' code, soon. */
    void execute(Runnable code);

    void runLossAction(String name, Consumer<LossReason> action, LossReason reason);

    /** Lets {@link Semaphores#look} be called at a time. */
    void watchDeadline(long deadlineNanos);

    /** Lets {@link Semaphores#checkOutage} be called while a call waits. */
    void watchOutage(long sinceNanos);

    String engine();

    RuntimeException failure(String name, @Nullable Throwable error);

    LockUnavailableException unavailable(String name, long silenceNanos);

    LockUnavailableException unconfirmed(String name);

    LockUnavailableException closedWhileWaiting(String name);

    /** Lets listeners know; not while a monitor is held. */
    void publish(Event event, String name, long nanos);

    /** Events of a permit for listeners, besides its loss. */
    enum Event {
        ACQUIRED,
        RELEASED,
        UNCONFIRMED
    }

    /** Logs the loss of a permit, and lets listeners know; not while a monitor is held. */
    void lost(String name, LossReason reason, long token, long heldNanos);

    /** How long a permit may be held before that is reported; null if the client does not look for leaks. */
    @Nullable
    Duration longHold();

    /**
     * Logs that the handle of a permit is unreachable, so that the permit is about to be released, and notifies
     * listeners.
     *
     * @param place where it was acquired; null unless the client looks for leaks
     */
    void abandoned(String name, long token, long heldNanos, @Nullable Throwable place);

    /** Logs that a permit is held for longer than {@link #longHold()}. */
    void lastsLong(String name, long token, long heldNanos, @Nullable Throwable place);

    /** A call starts, in its own thread; null if nobody observes. */
    LockObserver.@Nullable CallObserver observe(LockObserver.Call call);
}
