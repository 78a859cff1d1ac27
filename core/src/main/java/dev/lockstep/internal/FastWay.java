package dev.lockstep.internal;

import dev.lockstep.LockMode;
import dev.lockstep.LockOptions;
import dev.lockstep.LossReason;
import dev.lockstep.internal.Passage.State;
import dev.lockstep.spi.Grant;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The way through a turnstile of a thread that finds nothing in its way. Safe for use by many threads. */
final class FastWay {
    /*
     * An uncontended pair passes the mutex twice, not four times. A thread that finds nothing in the way
     * leaves its claim here as "inline", calls the backend, and makes the grant its hold by one compare-and-set of the
     * passage's state; whoever comes meanwhile finds a claim under way and queues. When the engine has confirmed a
     * release, the passage is marked GONE without the mutex, for the next who comes to remove, and only if somebody
     * waits is the mutex entered: a waiter first says that it waits and then looks at the state, the releaser does it
     * the other way round, so that one of them sees the other.
     */

    private final Turnstile turnstile;
    private final Rules rules;
    private final Mutex mutex;
    private final Courier courier;
    private final Client client;

    FastWay(Turnstile turnstile, Rules rules, Mutex mutex, Courier courier) {
        this.turnstile = turnstile;
        this.rules = rules;
        this.mutex = mutex;
        this.courier = courier;
        this.client = turnstile.client();
    }

    /**
     * Takes the lock exclusively for the calling thread if nobody here uses it and the engine answers inside the call.
     *
     * @return a {@link Hold}; or a {@link Waiter} that has entered; or null if something is in the way, and the call must
     *     enter as a waiter
     */
    @Nullable
    Object enter(LockOptions wish, boolean mayWait, boolean timed, Duration blockAtMost) {
        Thread thread = Thread.currentThread();
        Passage passage = claim(wish, thread, mayWait, blockAtMost);
        if (passage == null) {
            return null;
        }
        long now = passage.sentNanos();
        Courier.Submission submission = courier.call(passage);
        Grant grant = Courier.grantedAtOnce(submission);
        Hold hold = grant == null ? null : take(passage, grant, wish, thread, now);
        if (hold != null) {
            return hold;
        }
        Waiter waiter = new Waiter(LockMode.EXCLUSIVE, wish, now, mayWait, timed, blockAtMost, thread, null);
        enterLate(passage, waiter);
        courier.follow(passage, submission);
        return waiter;
    }

    private @Nullable Passage claim(LockOptions wish, Thread thread, boolean mayWait, Duration blockAtMost) {
        mutex.enter();
        try {
            rules.purge();
            if (rules.retired
                    || wish.isFair()
                    || !Admission.agree(wish, rules.options)
                    || rules.owners.hasLost()
                    || !rules.passages.isEmpty()
                    || !rules.queue.isEmpty()) {
                return null;
            }
            client.ensureOpen();
            long now = client.requestNanos();
            Passage passage =
                    rules.claim(LockMode.EXCLUSIVE, mayWait, !rules.yields, blockAtMost, now, thread.getName(), null);
            passage.inline = true;
            rules.yields = false;
            return passage;
        } finally {
            mutex.leave();
        }
    }

    /** Makes a hold of a grant that came at once. Null if the client was closed meanwhile, or somebody listens. */
    private @Nullable Hold take(Passage passage, Grant grant, LockOptions wish, Thread thread, long now) {
        if (client.events().isHeard()) {
            return null;
        }
        long since = wish.minHold().isPresent() ? client.nanoTime() : now; // a minimum time counts from the grant
        Hold hold = new Hold(turnstile, passage, LockMode.EXCLUSIVE, wish, thread, since);
        passage.grant = grant;
        passage.add(hold);
        rules.owners.add(hold);
        if (!passage.endClaiming(State.HELD)) {
            rules.owners.remove(hold);
            passage.holds.remove(hold);
            return null;
        }
        client.watchDeadline(hold.deadlineNanos());
        LossReason told = passage.toldLoss();
        if (told != null) {
            // It was told while the passage was not held yet, and so was not heard.
            turnstile.lost(passage, grant, told);
        }
        return hold;
    }

    /** Lets a call in as a waiter after its claim was submitted. */
    private void enterLate(Passage passage, Waiter waiter) {
        mutex.enter();
        try {
            passage.inline = false;
            if (!passage.isClaiming()) {
                waiter.finish(rules.answers.closed());
            } else if (waiter.mayWait) {
                rules.queue.addFirst(waiter);
            } else {
                passage.only = waiter;
                waiter.passage = passage;
            }
        } finally {
            mutex.leave();
        }
    }

    /** The engine knows a passage no more; without the mutex if nobody waits for that. */
    void gone(Passage passage) {
        passage.markGone();
        if (rules.queue.isAwaited()) {
            mutex.enter();
            try {
                rules.settle(client.nanoTime(), null, null);
            } finally {
                mutex.leave();
            }
        }
    }
}
