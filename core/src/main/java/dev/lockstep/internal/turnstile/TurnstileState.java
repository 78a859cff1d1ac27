package dev.lockstep.internal.turnstile;

import dev.lockstep.LockMode;
import dev.lockstep.LockOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** The state of a turnstile. Guarded by its mutex. {@link Rules} decides from it, and changes it. */
final class TurnstileState {
    /*
     * Invariants, whenever the mutex is free. Tests check them by check().
     *
     *  1. One claim at most waits for the queue. A fair lock has none: each of its calls has its own.
     *  2. A waiter in the queue has no result and has not given up; one that leaves has given up and has no result.
     *  3. A passage has holds only while it is held (or is being taken inline). A grant that nobody uses and that is not
     *     kept for a minimum time is offered to a waiter, retained or being released.
     *  4. An exclusive hold is the first of its passage, and all others on it belong to the same thread.
     *  5. Two held passages exclude each other only if their grants come from two engines, or one is being downgraded.
     *  6. If a call waits in the queue, a grant is here, a claim is on its way, or something has to leave first.
     *  7. A retired turnstile has neither waiters nor passages.
     */

    final WaitQueue queue = new WaitQueue();
    final Chain<Passage> passages = new Chain<>();
    final Owners owners = new Owners();
    final WaitRecords waits = new WaitRecords();

    private LockOptions options = LockOptions.defaults();
    private boolean yields;
    private boolean retired;
    private @Nullable CompletableFuture<Void> drained;
    private long claims;

    /** The settings that all users of the name agree on while it is in use. */
    LockOptions options() {
        return options;
    }

    void agreeOn(LockOptions wish) {
        options = wish;
    }

    /** Whether two users of a name agree on what belongs to the name. */
    static boolean agree(LockOptions one, LockOptions other) {
        return one == other
                || one.isFair() == other.isFair()
                        && one.isReentrant() == other.isReentrant()
                        && one.sticky().equals(other.sticky());
    }

    /** Whether the last grant was released because others want it: then the next claim queues behind them. */
    boolean yields() {
        return yields;
    }

    void yieldNext() {
        yields = true;
    }

    /** The next claim may go before others, unless this one has to yield. */
    boolean endYield() {
        boolean before = yields;
        yields = false;
        return before;
    }

    long nextClaimNumber() {
        return ++claims;
    }

    /** Whether neither a call waits nor anything is at the engine, or on its way there or back. */
    boolean isEmpty() {
        return passages.isEmpty() && queue.isEmpty();
    }

    boolean isIdle() {
        purge();
        return isEmpty() && !owners.hasLost();
    }

    /** Removes what ended without the mutex. */
    void purge() {
        Passage next;
        for (Passage passage = passages.first(); passage != null; passage = next) {
            next = passage.next;
            if (passage.state() == PassageState.GONE) {
                passages.remove(passage);
            }
        }
    }

    /** Retires it if it is not in use: a lock object that still refers to this turnstile must find its successor. */
    boolean retire() {
        retired |= isIdle();
        return retired;
    }

    boolean isRetired() {
        return retired;
    }

    /** The client closes: nothing is kept any more. */
    void close(CompletableFuture<Void> done) {
        drained = done;
        queue.awaitAlways();
    }

    boolean isClosing() {
        return drained != null;
    }

    /** To be completed because the client closes and nothing is left; null if not. */
    @Nullable
    CompletableFuture<Void> drained() {
        return passages.isEmpty() ? drained : null;
    }

    List<Hold> holds() {
        List<Hold> found = new ArrayList<>();
        for (Passage passage = passages.first(); passage != null; passage = passage.next) {
            for (Hold hold = passage.holds.first(); hold != null; hold = hold.next) {
                found.add(hold);
            }
        }
        return found;
    }

    List<Waiter> waiters() {
        List<Waiter> found = new ArrayList<>();
        for (Waiter waiter = queue.first(); waiter != null; waiter = waiter.next) {
            found.add(waiter);
        }
        return found;
    }

    /** The earliest deadline of what is held, or {@code latest} if none is before it. */
    long earliestDeadline(long latest) {
        long earliest = latest;
        for (Passage passage = passages.first(); passage != null; passage = passage.next) {
            if (passage.isHeld()) {
                earliest = earlier(earliest, passage.heldGrant().validUntilNanos());
                for (Hold hold = passage.holds.first(); hold != null; hold = hold.next) {
                    earliest = earlier(earliest, hold.deadlineNanos());
                }
            }
        }
        return earliest;
    }

    private static long earlier(long one, long other) {
        return other - one < 0 ? other : one;
    }

    /** Throws if an invariant is broken. For tests, under the mutex. */
    void check() {
        int claiming = 0;
        boolean served = queue.isEmpty() || options.isFair();
        for (Passage passage = passages.first(); passage != null; passage = passage.next) {
            claiming += passage.waitsForQueue() ? 1 : 0;
            served |= passage.isHeld() || passage.isClaiming() || passage.isInTheWay();
            check(passage);
        }
        require(claiming <= 1, "one claim at most waits for the queue");
        require(served, "every waiter will be served");
        require(!retired || isEmpty(), "a retired turnstile is empty");
        for (Waiter waiter = queue.first(); waiter != null; waiter = waiter.next) {
            require(!waiter.isOver(), "a waiter has no result");
        }
        for (Waiter waiter = queue.firstLeaving(); waiter != null; waiter = waiter.next) {
            require(waiter.hasGivenUp() && waiter.result() == null, "a leaving waiter has given up and has no result");
        }
    }

    private void check(Passage passage) {
        boolean inUse = !passage.holds.isEmpty();
        require(
                !inUse || passage.state() == PassageState.HELD || isBeingTaken(passage),
                "only a held passage has holds, not one that is " + passage.state());
        KeptTime kept = passage.kept();
        Waiter first = queue.first();
        require(
                inUse
                        || passage.state() != PassageState.HELD
                        || first != null && first.isOffered()
                        || kept != null && kept.hasTimer(),
                "a grant that nobody uses is offered, kept, retained or being released");
        Hold writer = passage.writer();
        for (Hold hold = passage.holds.first(); hold != null; hold = hold.next) {
            require(
                    hold == passage.holds.first() || hold.mode == LockMode.SHARED,
                    "an exclusive hold is the first of its passage");
            require(
                    writer == null || hold == writer || hold.owner == writer.owner,
                    "a reader beside a writer is the writer itself");
        }
        for (Passage other = passage.next; other != null && passage.isHeld(); other = other.next) {
            require(
                    !other.isHeld() || !Losses.conflict(passage, other) || !Losses.conflict(other, passage),
                    "two held passages do not conflict");
        }
    }

    /** Whether a thread may be making a grant its hold without the mutex. */
    private static boolean isBeingTaken(Passage passage) {
        return passage.isInline() && (passage.isClaiming() || passage.state() == PassageState.WITHDRAWING);
    }

    private static void require(boolean condition, String invariant) {
        if (!condition) {
            throw new AssertionError("Broken: " + invariant);
        }
    }
}
