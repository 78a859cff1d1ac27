package dev.lockstep.torture;

import dev.lockstep.LockLostException;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.ReleaseNotConfirmedException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Checks how the calls of a thread end, and reports what their contract does not allow. For one thread. */
final class Outcomes {
    /** To run the action of a loss takes a thread of the client's; those may all be busy with other losses. */
    static final Duration PATIENCE = Duration.ofSeconds(5);

    /** A round trip after the deadline, one to give a first lock of two back, and some for a busy machine. */
    private static final Duration LATE = Duration.ofSeconds(7);

    private final Worker worker;
    private final Witness witness;
    private Worker.Pace pace = Worker.Pace.REST; // when this turn began
    private long stalledBefore; // when this turn began

    Outcomes(Worker worker, Witness witness) {
        this.worker = worker;
        this.witness = witness;
    }

    /** The kind of a turn. */
    interface Attempt<T> {
        Optional<T> run() throws InterruptedException, ExecutionException;
    }

    /** A turn begins. */
    void begin(Worker.Pace itsPace) {
        pace = itsPace;
        stalledBefore = Stalls.nanos();
    }

    /**
     * Runs it; empty if it did not succeed in one of the ways in which that may be. Complains of a call with a deadline that
     * came back long after it.
     *
     * @param how the kind of call; null if a lock was released
     * @param drawn how long the call was to wait at most, if it has a deadline
     */
    <T> Optional<T> attempt(
            Locks locks, int lock, @Nullable Ending how, @Nullable LongSupplier drawn, Attempt<T> attempt) {
        long start = System.nanoTime() - Stalls.nanos();
        try {
            return attempt.run();
        } catch (InterruptedException e) {
            judge(locks, lock, how, e);
        } catch (ExecutionException e) {
            judge(locks, lock, how, e.getCause());
        } catch (RuntimeException e) {
            judge(locks, lock, how, e);
        } finally {
            if (how != null && drawn != null && how.isTimed()) {
                long late = System.nanoTime() - Stalls.nanos() - start - drawn.getAsLong();
                if (late > LATE.toNanos()) {
                    witness.complain(
                            Rule.OUTCOME, lock, how + " came back " + late / 1_000_000 + " ms after its deadline");
                }
            }
        }
        return Optional.empty();
    }

    /** Releases what was taken, and complains of a loss that the holder was not notified of. */
    void giveBack(Locks locks, int lock, Taken taken) {
        boolean invalid = !taken.lease().isValid();
        boolean lost = attempt(
                        locks, lock, null, null, () -> Optional.of(taken.giveBack(e -> judge(locks, lock, null, e))))
                .orElse(true);
        if (invalid && !lost) {
            witness.complain(Rule.LOSS, lock, "a hold that was not valid was released as if it had been");
        }
        if (invalid && !Stalls.untilAwake(() -> taken.wasToldOfLoss() || worker.locks() != locks, PATIENCE)) {
            witness.complain(Rule.LOSS, lock, "a hold was lost, and its loss action did not run");
        }
    }

    /** Complains of a look at a lock that failed on a healthy engine. */
    void judgeLook(Locks locks, int lock, LockUnavailableException failure) {
        boolean closed = worker.locks() != locks || worker.isClosed();
        if (!closed && !mayBeUnavailable()) {
            witness.complain(Rule.OUTCOME, lock, "inspect threw " + failure + " on a healthy engine");
        }
    }

    /**
     * Complains of a failure that the contract does not name.
     *
     * @param how the kind of call; null if a lock was released
     */
    private void judge(Locks locks, int lock, @Nullable Ending how, @Nullable Throwable failure) {
        boolean unavailable = how == null
                ? failure instanceof ReleaseNotConfirmedException
                : failure instanceof LockUnavailableException;
        boolean allowed = (unavailable && mayBeUnavailable())
                || (how == null ? failure instanceof LockLostException : how.mayEndWith(failure));
        boolean closed = (unavailable || failure instanceof IllegalStateException)
                && (worker.locks() != locks || worker.isClosed());
        if (!allowed && !closed) {
            String when = pace == Worker.Pace.CALM ? " on a healthy engine" : "";
            witness.complain(Rule.OUTCOME, lock, (how == null ? "releasing" : how) + " threw " + failure + when);
        }
    }

    /**
     * Whether a call of this turn may end with the word that the engine is not available: not if it is healthy. A worker that
     * was paused meanwhile proves nothing: it could not read the answer, and the time in which it must come kept
     * running.
     */
    private boolean mayBeUnavailable() {
        return pace != Worker.Pace.CALM
                || Stalls.nanos() - stalledBefore
                        >= Run.stallThatCounts(worker.plan().ttl());
    }

    /** Reports an error that ended a turn although nothing may end one. */
    void complain(Throwable failure) {
        witness.complain(Rule.OUTCOME, -1, "a turn ended with " + failure);
    }
}
