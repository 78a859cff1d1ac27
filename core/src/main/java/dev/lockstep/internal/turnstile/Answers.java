package dev.lockstep.internal.turnstile;

import dev.lockstep.spi.Claim;
import org.jspecify.annotations.Nullable;

/**
 * The answers of a turnstile to calls that get no hold: that another caller holds the lock, or that this is not known.
 * Every method is called with the mutex held. The Overview is in {@link Turnstile}.
 */
final class Answers {
    private final Rules rules;
    private final TurnstileState state;
    private final TurnstileContext client;
    private final String name;

    Answers(Rules rules, Turnstile turnstile) {
        this.rules = rules;
        this.state = rules.state;
        this.client = turnstile.client();
        this.name = turnstile.name();
    }

    /** The answer to a call that the engine refused. */
    Result refused(long now) {
        return rules.leftovers.isAnyOverdue(now) ? unconfirmed() : Result.BUSY;
    }

    /**
     * The answer to a call whose time is up.
     *
     * @param contact when the engine last answered anything
     * @return null if nothing is known yet because the engine's first answer may be about to arrive
     */
    @Nullable
    Result timeUp(Waiter waiter, long contact, long now) {
        Result answer = knownAtTimeUp(waiter, contact, now);
        return answer instanceof Result.Failed && mayBeKnownSoon(waiter, now) ? null : answer;
    }

    private Result knownAtTimeUp(Waiter waiter, long contact, long now) {
        if (waiter.mayWait() && isHeldHere(now)) {
            return Result.BUSY;
        }
        if (waiter.mayWait() && rules.leftovers.holdUpTheQueue()) {
            PassageState before = rules.leftovers.leftAfter(waiter, now);
            if (before == null) {
                return unconfirmed();
            }
            if (before == PassageState.RELEASING) {
                return refused(now);
            }
        }
        return waiter.mayWait() && isRefused(waiter, contact, now)
                ? refused(now)
                : unavailable(now - waiter.startNanos);
    }

    /** Whether a call whose time is up came so recently that the engine's first answer may be about to arrive. */
    private boolean mayBeKnownSoon(Waiter waiter, long now) {
        return waiter.mayWait()
                && now - waiter.startNanos < client.requestTimeoutNanos()
                && !rules.leftovers.isAnyOverdue(now);
    }

    /**
     * Ends the waits without a deadline of their own for which the engine was unreachable, or could not be asked, for
     * too long.
     *
     * @return how long until the next of them ends if that continues
     */
    long endForOutage(long now, long lastContact, long earliest) {
        boolean heldUp = rules.leftovers.holdUpTheQueue();
        long answered = lastContact - earliest > 0 ? lastContact : earliest;
        long asked = heldUp ? rules.leftovers.heldUpSince(earliest, now) : answered;
        long from = asked - answered < 0 ? asked : answered;
        long left = Long.MAX_VALUE;
        Waiter next;
        for (Waiter waiter = state.queue.first(); waiter != null; waiter = next) {
            next = waiter.next;
            Result answer = outage(waiter, heldUp, from, now);
            if (answer != null) {
                rules.abandon(waiter);
                rules.finish(waiter, answer);
            } else {
                left = Math.min(left, patienceLeft(waiter, from, now));
            }
        }
        return left;
    }

    /**
     * The answer to a call without a deadline of its own that has waited for long enough without the engine, or for which
     * the engine could not be asked for so long; null if it waits on.
     *
     * @param heldUp whether only leaving passages prevent a request to the engine
     * @param from since when the engine owes an answer, or is not asked
     */
    private @Nullable Result outage(Waiter waiter, boolean heldUp, long from, long now) {
        if (patienceLeft(waiter, from, now) > 0) {
            return null;
        }
        return heldUp ? unconfirmed() : unavailable(now - silentSince(waiter, from));
    }

    /** How long a call waits on for an engine that stays silent, or is not asked; without limit if it has its own deadline. */
    private long patienceLeft(Waiter waiter, long from, long now) {
        return waiter.call.isTimed(client)
                ? Long.MAX_VALUE
                : client.patienceNanos() - Math.max(now - silentSince(waiter, from), 0);
    }

    private static long silentSince(Waiter waiter, long from) {
        return from - waiter.startNanos > 0 ? from : waiter.startNanos;
    }

    /** The answer if an earlier call of this client may hold the lock. */
    private Result unconfirmed() {
        return new Result.Failed(() -> client.failures().unconfirmed(name));
    }

    /** The answer if the engine was not reached. */
    Result unavailable(long silenceNanos) {
        return new Result.Failed(() -> client.failures().unavailable(name, silenceNanos));
    }

    /** The answer if the client was closed meanwhile. */
    Result closed() {
        return new Result.Failed(() -> client.failures().closedWhileWaiting(name));
    }

    /** The answer if the backend failed. */
    Result failed(@Nullable Throwable error) {
        return new Result.Failed(() -> client.failures().failure(name, error));
    }

    boolean isHeldHere(long now) {
        for (Passage passage = state.passages.first(); passage != null; passage = passage.next) {
            if (passage.isHeld() && !passage.isPast(now)) {
                return true;
            }
        }
        return false;
    }

    /** Whether the engine has said that the lock is not free, and has answered something recently. */
    private boolean isRefused(Waiter waiter, long contact, long now) {
        boolean recent = contact - waiter.startNanos >= 0 || now - contact <= client.requestTimeoutNanos();
        for (Passage passage = state.passages.first(); recent && passage != null; passage = passage.next) {
            Claim claim = passage.claim();
            boolean asked =
                    passage.isClaiming() || passage.isInTheWay() && passage.owedSince(now) - waiter.startNanos > 0;
            if (asked && claim != null && claim.mustWait()) {
                return true;
            }
        }
        return false;
    }
}
