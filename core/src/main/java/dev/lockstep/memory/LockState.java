package dev.lockstep.memory;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;

/**
 * The holders and the queue of one lock. Every method is called with its monitor held, except {@link #adopt}, which is
 * called before any other thread can see it.
 *
 * <p>The queue is served strictly in order of arrival. Shared claims at its head are granted together; those behind an
 * exclusive one wait with it. A lock is never free while a claim waits, since the head gets it as soon as it is free:
 * so a claim that may overtake others never finds the lock free.
 */
final class LockState implements Slot {
    private final Set<MemoryGrant> holders = new LinkedHashSet<>();
    private final Set<MemoryGrant> waiters = new LinkedHashSet<>();
    private final String name;
    private boolean dead;

    /**
     * How many permits there are, if this is a semaphore: the number of the first claim, as long as any claim is here.
     */
    private OptionalInt limit = OptionalInt.empty();

    /** Which slots of a semaphore its holders have. */
    private final BitSet slots = new BitSet();

    LockState(String name) {
        this.name = name;
    }

    @Override
    public String name() {
        return name;
    }

    void adopt(MemoryGrant holder) {
        holders.add(holder);
    }

    boolean isDead() {
        return dead;
    }

    /** A state that was removed from the table must not be used any more. */
    boolean dieIfEmpty() {
        dead |= holders.isEmpty() && waiters.isEmpty();
        return dead;
    }

    OptionalInt limit() {
        return limit;
    }

    void arrive(MemoryGrant grant, Notices notices) {
        OptionalInt asked = grant.request().limit();
        if (holders.isEmpty() && waiters.isEmpty()) {
            limit = asked;
        } else if (!asked.equals(limit)) {
            notices.refused(grant, limit);
            return;
        }
        if (waiters.isEmpty() && isCompatible(grant)) {
            hold(grant);
            grant(List.of(grant), notices);
        } else if (grant.request().mayWait()) {
            waiters.add(grant);
            for (MemoryGrant holder : holders) {
                if (holder.backend() != grant.backend()) {
                    notices.wanted(holder);
                }
            }
        } else {
            notices.busy(grant);
        }
    }

    boolean leave(MemoryGrant grant, Notices notices) {
        boolean held = holders.remove(grant);
        if (held) {
            grant.slotNumbers().forEach(slots::clear);
        }
        if (held || waiters.remove(grant)) {
            serveQueue(notices);
        }
        return held && !grant.isEnded();
    }

    boolean downgrade(MemoryGrant grant, Notices notices) {
        if (!holders.contains(grant) || grant.isEnded()) {
            return false;
        }
        grant.becomeShared();
        serveQueue(notices);
        return true;
    }

    /** Marks a holder as one that lost the lock, which it occupies until it has been notified and removed. */
    boolean markEnded(MemoryGrant grant) {
        if (!holders.contains(grant) || grant.isEnded()) {
            return false;
        }
        grant.markEnded();
        return true;
    }

    void removeWaiters(Session session, Notices notices) {
        if (waiters.removeIf(waiter -> waiter.session() == session)) {
            serveQueue(notices);
        }
    }

    List<MemoryGrant> holders() {
        return List.copyOf(holders);
    }

    List<MemoryGrant> waiters() {
        return List.copyOf(waiters);
    }

    private boolean isCompatible(MemoryGrant grant) {
        if (limit.isPresent()) {
            return slots.cardinality() + grant.request().permits() <= limit.getAsInt();
        }
        // Several holders are all shared, so the first speaks for all.
        return holders.isEmpty()
                || (grant.isShared() && holders.iterator().next().isShared());
    }

    private void serveQueue(Notices notices) {
        List<MemoryGrant> served = new ArrayList<>();
        for (Iterator<MemoryGrant> queue = waiters.iterator(); queue.hasNext(); ) {
            MemoryGrant head = queue.next();
            if (!isCompatible(head)) {
                break;
            }
            queue.remove();
            hold(head);
            served.add(head);
        }
        grant(served, notices);
    }

    private void hold(MemoryGrant grant) {
        holders.add(grant);
        if (limit.isPresent()) {
            List<Integer> lowest = new ArrayList<>();
            for (int i = 0; i < grant.request().permits(); i++) {
                lowest.add(slots.nextClearBit(0));
                slots.set(lowest.get(i));
            }
            grant.assignSlots(lowest);
        }
    }

    private void grant(List<MemoryGrant> served, Notices notices) {
        for (MemoryGrant grant : served) {
            grant.assignToken(LockTable.nextToken());
            // Sent before the grant itself, so that it is wanted from the beginning.
            if (isWaitedForByOthers(grant)) {
                notices.wanted(grant);
            }
            notices.granted(grant);
        }
    }

    /** Every holder blocks every waiter: the head because of its mode, the others because they are behind it. */
    private boolean isWaitedForByOthers(MemoryGrant holder) {
        for (MemoryGrant waiter : waiters) {
            if (waiter.backend() != holder.backend()) {
                return true;
            }
        }
        return false;
    }
}
