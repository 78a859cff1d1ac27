package dev.lockstep;

import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Observes a client's calls, holds and requests where they happen; for metrics and traces. Register one with {@link
 * LockClient.Builder#observer(LockObserver)}.
 *
 * <p>A {@link LockListener} is notified later, on the client's executor, and may miss events if it is too slow. An observer
 * is called in the thread that does the work, and misses nothing:
 *
 * <ul>
 *   <li>{@link #callStarted} is called in the caller's thread. {@link CallObserver#callEnded} is called there too, before the
 *       call returns; for an asynchronous call it is called on the client's executor, before the future is completed.
 *   <li>{@link #nextCallStarted} is called instead for all locks of an asynchronous multi-lock but the first, in the thread
 *       that has the result of the call before.
 *   <li>{@link CallObserver#waiting} is called in the caller's thread if the wait is known when the engine has been asked,
 *       otherwise on the client's executor.
 *   <li>{@link CallObserver#holdEnded} is called in the thread that releases the hold, before that call returns; after
 *       {@link Lease#closeAsync()} on the client's executor. If the hold is lost, it is called in the thread that
 *       discovers the loss.
 *   <li>All other methods are called in whichever thread notices the event, such as a timer's or an engine client's.
 * </ul>
 *
 * <p><b>Counts are exact.</b> Each call that starts ends once. Each call that ends with {@link CallOutcome#ACQUIRED} begins
 * one hold, whose end is reported once and after the end of the call. So at any time: acquired = released + lost +
 * unconfirmed + still held. The end of one hold and the beginning of the next are reported by two threads, in no particular
 * order.
 *
 * <p><b>What an observer must do.</b> It must be safe for use by many threads, and must return quickly: lock calls and
 * timers wait for it. Lockstep holds no internal lock meanwhile. Exceptions that it throws are logged and change
 * nothing. It measures times itself.
 *
 * <p>A multi-lock makes one call for each of its locks. Later versions may add methods with an empty default, and accessors
 * to the types that are passed in; do not implement those.
 */
public interface LockObserver {
    /**
     * A client is about to connect. Called before anything else; {@link #clientOpened} follows unless that fails.
     *
     * @param client the client that this observer was registered with
     */
    default void clientOpening(ClientInfo client) {}

    /**
     * The client is connected, and is about to be returned by {@link LockClient.Builder#connect()}. Requests that connect it
     * are reported before.
     *
     * @param client the client that this observer was registered with
     */
    default void clientOpened(LockClient client) {}

    /**
     * The client was closed. Calls and holds that end later, such as a call in another thread, are still reported.
     *
     * @param client the client
     */
    default void clientClosed(LockClient client) {}

    /**
     * A call for a lock starts. Called in the caller's thread, before anything else happens.
     *
     * @param call the call
     * @return an observer of the call and of the resulting hold; {@link CallObserver#NONE} to observe nothing
     */
    default CallObserver callStarted(Call call) {
        return CallObserver.NONE;
    }

    /**
     * An asynchronous call for a multi-lock continues with a further lock. Called in any thread. Does what {@link #callStarted}
     * does unless overridden, which suits observers that do not look at the calling thread.
     *
     * @param call the call for that lock
     * @param first what {@link #callStarted} has returned in the caller's thread, for the first lock
     * @return an observer of the call and of the resulting hold; {@link CallObserver#NONE} to observe nothing
     */
    default CallObserver nextCallStarted(Call call, CallObserver first) {
        return callStarted(call);
    }

    /**
     * A grant passed from one local hold to the next without asking the engine.
     *
     * @param event what happened
     */
    default void handedOff(LockListener.HandedOff event) {}

    /**
     * A hold can no longer be released; see {@link LockListener#onAbandoned}.
     *
     * @param event what happened
     */
    default void abandoned(LockListener.Abandoned event) {}

    /**
     * A deadlock was found that includes a thread of this client.
     *
     * @param event what happened
     */
    default void deadlocked(LockListener.Deadlock event) {}

    /**
     * The engine has not answered for the client's request timeout while it was needed.
     *
     * @param event what happened
     */
    default void unreachable(LockListener.Unreachable event) {}

    /**
     * The engine answers again.
     *
     * @param event what happened
     */
    default void reachable(LockListener.Reachable event) {}

    /**
     * The client's claims go to its {@link Fallback} from now on.
     *
     * @param event what happened
     */
    default void fallbackEntered(LockListener.FallbackEntered event) {}

    /**
     * The engine answers again, and the last hold that was taken in fallback has ended.
     *
     * @param event what happened
     */
    default void fallbackLeft(LockListener.FallbackLeft event) {}

    /**
     * The engine has answered a request, or failed to. Every try counts as one.
     *
     * @param request the request
     */
    default void requestEnded(Request request) {}

    /**
     * The engine did not confirm a renewal. It is tried again until it succeeds or the locks are lost.
     *
     * @param failure what happened
     */
    default void renewalFailed(RenewalFailure failure) {}

    /** Observes one call, and the resulting hold. Threads and guarantees are those of {@link LockObserver}. */
    interface CallObserver {
        /** Observes nothing. */
        CallObserver NONE = new CallObserver() {};

        /**
         * The lock is not free, and the call begins to wait for it. At most once, before {@link #callEnded}; never for a call
         * that does not wait.
         */
        default void waiting() {}

        /**
         * The call has ended. Once.
         *
         * @param end how it ended
         */
        default void callEnded(CallEnd end) {}

        /**
         * The hold has ended. Once, after {@link #callEnded}, if that was {@link CallOutcome#ACQUIRED}; otherwise never.
         *
         * @param end how it ended
         */
        default void holdEnded(HoldEnd end) {}
    }

    /** A client that is about to connect. Immutable. */
    interface ClientInfo {
        /**
         * Names the client.
         *
         * @return its name, as {@link LockClient#name()}
         */
        String name();

        /**
         * Names the kind of its engine.
         *
         * @return a fixed word in lower case, such as {@code redis}; not the fallback's engine
         */
        String engine();

        /**
         * Returns where its engine is.
         *
         * @return hosts and ports, without credentials; empty if they are not known
         */
        String address();
    }

    /** A call for a lock, for permits of a semaphore, or to become a candidate. Immutable. */
    interface Call {
        /**
         * Returns what the call is for.
         *
         * @return the kind
         */
        CallKind kind();

        /**
         * Names the lock.
         *
         * @return the name of one lock, even if the call is part of a multi-lock
         */
        String lockName();

        /**
         * Returns how the lock is to be held.
         *
         * @return the mode
         */
        LockMode mode();

        /**
         * The options of the lock object that is called.
         *
         * @return the options
         */
        LockOptions options();

        /**
         * Returns how long the call waits at most.
         *
         * @return zero if it does not wait; empty if it waits without a limit
         */
        Optional<Duration> maxWait();

        /**
         * Returns whether the call returns a future instead of blocking its thread.
         *
         * @return true if it does
         */
        boolean isAsync();
    }

    /** The purpose of a call. Later versions may add kinds. */
    enum CallKind {
        /** A lock, or one of the locks of a multi-lock; {@link Call#mode()} distinguishes read locks. */
        LOCK,
        /** Permits of a {@link DistributedSemaphore}. */
        PERMIT,
        /** A term of a {@link LeaderElection}. */
        TERM
    }

    /** How a call ended. Valid while {@link CallObserver#callEnded} runs. */
    interface CallEnd {
        /**
         * Returns how it ended.
         *
         * @return the outcome
         */
        CallOutcome outcome();

        /**
         * The exception that the caller gets.
         *
         * @return the exception; empty if there is none
         */
        Optional<Throwable> failure();

        /**
         * The token of the hold that began. This method draws the token, as {@link Lease#token()} does.
         *
         * @return the token; empty unless the call {@linkplain CallOutcome#ACQUIRED acquired} the lock, in fallback, and if the
         *     lock was lost already
         */
        default OptionalLong token() {
            return OptionalLong.empty();
        }
    }

    /** How a call for a lock can end. */
    enum CallOutcome {
        /** It has the lock: a hold began. */
        ACQUIRED,
        /** Its thread held the lock already. No new hold began. */
        REENTERED,
        /** Another caller holds the lock, and the call does not wait. */
        BUSY,
        /** Another caller held the lock until the call's time was up. */
        TIMED_OUT,
        /** Its thread was interrupted. */
        INTERRUPTED,
        /** Its future was cancelled, or completed by other code. */
        CANCELLED,
        /**
         * The engine could not be reached, or the outcome of the request is unknown; or the client was closed
         * meanwhile.
         */
        UNAVAILABLE,
        /** Anything else, such as incorrect use or a refusal by the engine. */
        FAILED
    }

    /** How a hold ended. Immutable. */
    interface HoldEnd {
        /**
         * Returns how it ended.
         *
         * @return the outcome
         */
        HoldOutcome outcome();

        /**
         * Returns why it was lost.
         *
         * @return the reason; empty unless it was lost
         */
        Optional<LossReason> lossReason();

        /**
         * The token of the hold.
         *
         * @return the token; empty if nobody has asked for it
         */
        OptionalLong token();
    }

    /** How a hold can end. */
    enum HoldOutcome {
        /** Its holder released it, and the engine has confirmed that where it was asked. */
        RELEASED,
        /** It was lost. Its release may have discovered that. */
        LOST,
        /** Its holder released it, and the engine did not confirm that within the request timeout. */
        UNCONFIRMED
    }

    /** One request to the engine. Immutable. */
    interface Request {
        /**
         * Returns the kind of request, in the engine's own terms.
         *
         * @return one of a few fixed words of each engine, such as {@code acquire} or {@code Txn}
         */
        String kind();

        /**
         * Returns how long it took.
         *
         * @return the time from sending to the answer or the failure
         */
        Duration duration();

        /**
         * Returns why it failed.
         *
         * @return the failure of this try; empty if the engine answered
         */
        Optional<Throwable> failure();
    }

    /** A renewal that the engine did not confirm. Immutable. */
    interface RenewalFailure {
        /**
         * Returns how many items it was for.
         *
         * @return the number of locks, or 1 where the engine renews a session for all of them
         */
        int size();

        /**
         * Returns why it failed.
         *
         * @return the failure
         */
        Throwable failure();
    }
}
