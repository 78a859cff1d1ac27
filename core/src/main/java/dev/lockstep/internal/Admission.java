package dev.lockstep.internal;

import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockMode;
import dev.lockstep.LockOptions;
import dev.lockstep.SelfDeadlockException;
import org.jspecify.annotations.Nullable;

/**
 * How a turnstile receives a call: it has a hold at once, or an answer, or it waits. Every method is called with the mutex
 * held, but {@link #agree}. The Overview is in {@link Turnstile}.
 */
final class Admission {
    private final Rules rules;
    private final Client client;
    private final String name;

    Admission(Rules rules, Turnstile turnstile) {
        this.rules = rules;
        this.client = turnstile.client();
        this.name = turnstile.name();
    }

    /** Gives a call its hold or its answer, or queues it. Returns the claim that the caller is to submit. */
    @Nullable
    Passage admit(Waiter waiter) {
        client.ensureOpen();
        rules.purge();
        adopt(waiter.options);
        long now = waiter.startNanos;
        if (waiter.thread != null && admitOwner(waiter, waiter.thread, now)) {
            return null;
        }
        if (rules.options.isFair()) {
            if (waiter.mayWait) {
                rules.queue.add(waiter);
            }
            return rules.claimFor(waiter, false, now);
        }
        boolean lost = false;
        Passage next;
        for (Passage passage = rules.passages.first(); passage != null; passage = next) {
            next = passage.next;
            if (passage.isHeld() && rules.losses.loseIfPast(passage, now)) {
                lost = true;
            } else if (passage.isHeld() && mayJoin(passage, waiter, now)) {
                if (passage.holds.isEmpty()) {
                    rules.bypassFirst();
                }
                rules.assign(passage, waiter, now);
                return null;
            }
        }
        if (waiter.mayWait) {
            rules.queue.add(waiter);
            rules.releaseUseless(now);
            return rules.claimIfNeeded(waiter.blockAtMost, now);
        }
        if (lost) {
            rules.settle(now, null, null); // others may wait for what is free now
        }
        if (heldAgainst(waiter)) {
            rules.finish(waiter, Waiter.BUSY);
            return null;
        }
        return rules.claimFor(waiter, !rules.yields, now);
    }

    /** Whether two users of a name agree on what belongs to the name. */
    static boolean agree(LockOptions one, LockOptions other) {
        return one == other
                || one.isFair() == other.isFair()
                        && one.isReentrant() == other.isReentrant()
                        && one.sticky().equals(other.sticky());
    }

    /** Fairness, stickiness and reentrancy are the name's while it is in use. */
    void adopt(LockOptions wish) {
        if (agree(wish, rules.options)) {
            return;
        }
        if (!rules.isIdle()) {
            throw new LockConfigurationException(
                    name,
                    "Lock '" + name + "' is in use with " + rules.options + " and cannot be used with " + wish
                            + " meanwhile. Use the same fairness, stickiness and reentrancy for a name everywhere.");
        }
        rules.options = wish;
    }

    /** Re-entry, downgrade and self-deadlock: what depends on the thread's own holds. True if that settled it. */
    boolean admitOwner(Waiter waiter, Thread thread, long now) {
        Hold written = rules.owners.writer(thread);
        Hold read = rules.owners.reader(thread);
        Hold own = written != null ? written : read;
        if (own != null && now - own.deadlineNanos() >= 0) {
            rules.losses.loseWhatIsPast(now);
            rules.settle(now, null, null);
        }
        Hold lost = rules.owners.lost(thread, null);
        if (lost != null) {
            throw lost.lostException();
        }
        if (own == null) {
            return false;
        }
        boolean reentrant = rules.options.isReentrant();
        Hold same = waiter.mode == LockMode.EXCLUSIVE ? written : read;
        if (reentrant && same != null) {
            same.endBy(waiter.options, now);
            client.watchDeadline(same.deadlineNanos());
            waiter.finish(same);
        } else if (reentrant && written != null) {
            rules.assign(written.passage, waiter, now);
        } else {
            throw new SelfDeadlockException(
                    name,
                    reentrant
                            ? "Lock '" + name + "': this thread holds the read lock and cannot take the write lock; it"
                                    + " would wait for itself. Release the read lock first."
                            : "Lock '" + name + "' is not reentrant and this thread holds it already; it would wait for"
                                    + " itself.");
        }
        return true;
    }

    /** Whether a call that just arrived may use a grant that is here: join readers, or barge on an idle grant. */
    boolean mayJoin(Passage passage, Waiter waiter, long now) {
        boolean free = passage.holds.isEmpty() || !rules.queue.hasExclusive();
        return free && Rules.fits(passage, waiter.mode) && rules.mayHandOff(passage, waiter, now);
    }

    /** Whether a call that may not wait can be answered from here: another local hold stands against it. */
    boolean heldAgainst(Waiter waiter) {
        for (Passage passage = rules.passages.first(); passage != null; passage = passage.next) {
            if (passage.isHeld()
                    && (waiter.mode == LockMode.EXCLUSIVE || passage.writer() != null || rules.queue.hasExclusive())) {
                return true;
            }
        }
        return false;
    }
}
