package dev.lockstep.internal;

import dev.lockstep.internal.Passage.State;
import dev.lockstep.internal.Waiter.Failure;
import dev.lockstep.spi.Claim;
import org.jspecify.annotations.Nullable;

/**
 * What a turnstile tells calls that get no hold: that somebody else holds the lock, or that this is not known. Every method
 * is called with the mutex held. The Overview is in {@link Turnstile}.
 */
final class Answers {
    /*
     * While something that nobody here has any more is on its way out, the engine may still know it. No claim is made for
     * the queue meanwhile, so that whatever else the engine answers says nothing about the lock; and what it is asked for one
     * call alone it may refuse because of this client itself.
     *
     * For a moment that is as it should be: who gives the lock back holds it until the engine has confirmed, for those who
     * saw it hold. After the request timeout it has been told that this was not confirmed, and holds nothing any more. An
     * engine that answers but cannot write makes this last for the ttl; nobody knows then who holds the lock, and no call
     * without a deadline is to wait for it.
     */

    private final Rules rules;
    private final Client client;
    private final String name;

    Answers(Rules rules, Turnstile turnstile) {
        this.rules = rules;
        this.client = turnstile.client();
        this.name = turnstile.name();
    }

    /** The answer to a call that the engine refused. */
    Object refused(long now) {
        for (Passage passage = rules.passages.first(); passage != null; passage = passage.next) {
            if (passage.isLeaving() && now - passage.owedSince(now) >= client.requestTimeoutNanos()) {
                return unconfirmed();
            }
        }
        return Waiter.BUSY;
    }

    /**
     * The answer to a call whose time is up.
     *
     * @param contact when the engine last answered anything
     */
    Object timeUp(Waiter waiter, long contact, long now) {
        if (waiter.mayWait && isHeldHere(now)) {
            return Waiter.BUSY;
        }
        if (waiter.mayWait && isQueueHeldUp()) {
            State before = whatLeftAfter(waiter, now);
            if (before == null) {
                return unconfirmed();
            }
            if (before == State.RELEASING) {
                return refused(now);
            }
        }
        return waiter.mayWait && isRefused(waiter, contact, now) ? refused(now) : unavailable(now - waiter.startNanos);
    }

    /** The answer if an earlier call of this client may hold the lock. */
    Failure unconfirmed() {
        return () -> client.unconfirmed(name);
    }

    /** The answer if the engine was not reached. */
    Failure unavailable(long silenceNanos) {
        return () -> client.unavailable(name, silenceNanos);
    }

    /** The answer if the client was closed meanwhile. */
    Failure closed() {
        return () -> client.closedWhileWaiting(name);
    }

    /** The answer if the backend failed. */
    Failure failed(@Nullable Throwable error) {
        return () -> client.failure(name, error);
    }

    /** Whether a call whose time is up came so recently that the engine's first answer may just be on its way. */
    boolean mayBeKnownSoon(Waiter waiter, long now) {
        return waiter.mayWait && now - waiter.startNanos < client.requestTimeoutNanos() && refused(now) == Waiter.BUSY;
    }

    private boolean isHeldHere(long now) {
        for (Passage passage = rules.passages.first(); passage != null; passage = passage.next) {
            if (passage.isHeld() && now - passage.heldGrant().validUntilNanos() < 0) {
                return true;
            }
        }
        return false;
    }

    /** Whether the engine has said that the lock is not free, and has answered something of late. */
    private boolean isRefused(Waiter waiter, long contact, long now) {
        boolean recent = contact - waiter.startNanos >= 0 || now - contact <= client.requestTimeoutNanos();
        for (Passage passage = rules.passages.first(); recent && passage != null; passage = passage.next) {
            Claim claim = passage.claim;
            boolean asked =
                    passage.isClaiming() || passage.isInTheWay() && passage.owedSince(now) - waiter.startNanos > 0;
            if (asked && claim != null && claim.mustWait()) {
                return true;
            }
        }
        return false;
    }

    /** Whether those in the queue wait for nothing but what is on its way out, so that the engine was not asked for them. */
    boolean isQueueHeldUp() {
        boolean inTheWay = false;
        for (Passage passage = rules.passages.first(); passage != null; passage = passage.next) {
            if (passage.isHeld() || passage.isClaiming() && passage.only == null) {
                return false;
            }
            inTheWay |= passage.isInTheWay();
        }
        return inTheWay && !rules.options.isFair();
    }

    /** Since when, as far as it counts from a time, the queue is held up. */
    long heldUpSince(long earliest, long now) {
        long since = earliest;
        for (Passage passage = rules.passages.first(); passage != null; passage = passage.next) {
            if (passage.isInTheWay() && passage.owedSince(now) - since > 0) {
                since = passage.owedSince(now);
            }
        }
        return since;
    }

    /**
     * How that leaves which holds the queue up, if it began to after a call came: a grant that was here until then, or a
     * claim by which the engine was asked. Null if the call came later.
     */
    private @Nullable State whatLeftAfter(Waiter waiter, long now) {
        State state = null;
        for (Passage passage = rules.passages.first(); passage != null; passage = passage.next) {
            if (passage.isInTheWay() && state != State.RELEASING && passage.owedSince(now) - waiter.startNanos > 0) {
                state = passage.state();
            }
        }
        return state;
    }
}
