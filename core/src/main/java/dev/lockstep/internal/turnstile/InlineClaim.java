package dev.lockstep.internal.turnstile;

import dev.lockstep.LockMode;
import dev.lockstep.LossReason;
import dev.lockstep.spi.Grant;
import org.jspecify.annotations.Nullable;

/**
 * The claim of a thread that found nobody at the turnstile: no other call has a part in it until the engine has
 * answered. Safe for use by many threads.
 */
final class InlineClaim {
    /*
     * An uncontended acquire and release enter the mutex twice, not four times. The arrival of a thread that finds
     * nobody is decided like every other; its claim is marked as inline. The thread calls the backend, and makes the
     * grant its hold by one compare-and-set of the passage's state; a thread that comes meanwhile finds a claim under
     * way and queues. If the grant does not come at once, the thread becomes a waiter like any other.
     *
     * When the engine has confirmed a release at once, the passage is marked GONE without the mutex, and the next
     * caller removes it. The mutex is entered only if a call waits: a waiter first publishes that it waits and then
     * reads the state; the releaser does it in the opposite order, so that one of them sees the other.
     */

    private final Turnstile turnstile;
    private final TurnstileState state;
    private final Actions actions;
    private final TurnstileContext client;

    InlineClaim(Turnstile turnstile, TurnstileState state, Actions actions) {
        this.turnstile = turnstile;
        this.state = state;
        this.actions = actions;
        this.client = turnstile.client();
    }

    /** Asks the engine, in the thread of the call. The call has a hold, or waits from then on. */
    Entry ask(Passage passage, Call call) {
        Actions.Submission submission = actions.call(passage);
        Grant grant = Actions.grantedAtOnce(submission);
        Hold hold = grant == null ? null : take(passage, grant, call);
        if (hold != null) {
            return hold;
        }
        Waiter waiter = new Waiter(turnstile, call, passage.sentNanos());
        turnstile.becomesWaiter(passage, waiter);
        actions.follow(passage, submission);
        return waiter;
    }

    /**
     * Makes a hold of a grant that came at once. Null if the client was closed meanwhile, another call has claimed the
     * lock, too, or there are listeners.
     */
    private @Nullable Hold take(Passage passage, Grant grant, Call call) {
        if (client.events().isHeard() || state.passages.size() > 1) {
            return null;
        }
        // A minimum time counts from the grant.
        long since = call.options().minHold().isPresent() ? client.nanoTime() : passage.sentNanos();
        Hold hold = new Hold(turnstile, passage, LockMode.EXCLUSIVE, call.options(), call.owner(), since);
        passage.granted(grant);
        passage.add(hold);
        state.owners.add(hold);
        if (!passage.endClaiming(PassageState.HELD)) {
            state.owners.remove(hold);
            passage.holds.remove(hold);
            return null;
        }
        client.watchDeadline(hold.deadlineNanos());
        LossReason reported = passage.reportedLoss();
        if (reported != null) {
            turnstile
                    .engineEvents()
                    .lost(passage, grant, reported); // reported before the passage was held, and so ignored
        }
        return hold;
    }
}
