package dev.lockstep.memory;

import dev.lockstep.LockInfo;
import dev.lockstep.LockPage;
import dev.lockstep.LossReason;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The locks of one namespace, as the engine sees them: the holders, the waiters, and the order of the queue. Knows
 * nothing of the links to the clients; it returns the messages to them as {@link Notices}. Safe for use by many
 * threads.
 */
final class LockTable {
    /*
     * Overview. A name that nobody uses has no slot. A name with one exclusive holder and nothing else has that grant
     * itself as its slot, so that the common case is one insert and one remove. Whatever is more than that (a waiter, a
     * shared holder, a revocation) first replaces the grant by a LockState that has it as its holder. The LockState
     * stays until it is empty; then it is dead and removed. A thread that finds it dead looks the name up again.
     *
     * Lock order: PendingClaim, then LockState. No stage is completed inside of any.
     *
     * Tokens must rise in the order of the grants of a name. A LockState draws them under its monitor. A grant that is
     * its own slot draws after it has been inserted, so after every earlier holder; and before it is removed, because a
     * revocation first forbids it to draw (MemoryGrant.forbidToken).
     *
     * A session ends while its client is submitting: the session is marked first, then the table is searched. A grant is
     * inserted first, then looks at the mark. So one of them sees the other.
     */

    /** One sequence for the JVM, so that tokens rise even if a shared engine is freed and made again. */
    private static final AtomicLong TOKENS = new AtomicLong();

    private final SlotMap slots = new SlotMap();
    private final Watchers watchers = new Watchers();

    static long nextToken() {
        return TOKENS.incrementAndGet();
    }

    /**
     * Takes an unused lock exclusively. The path without contention: nothing else happens, and no client is notified.
     */
    boolean takeUnused(MemoryGrant grant) {
        if (slots.putIfAbsent(grant) != null) {
            return false;
        }
        if (grant.drawToken() && grant.session().isAlive()) {
            tellWatchers(grant);
            return true;
        }
        Notices notices = new Notices();
        leave(grant, notices);
        notices.deliver();
        return false;
    }

    /** Releases a lock that no other claim has asked for since {@link #takeUnused}. */
    boolean leaveUnwanted(MemoryGrant grant) {
        if (!slots.remove(grant)) {
            return false;
        }
        tellWatchers(grant);
        return true;
    }

    private void tellWatchers(MemoryGrant grant) {
        if (watchers.isAny()) {
            watchers.changed(grant.name());
        }
    }

    Watchers watchers() {
        return watchers;
    }

    /** Grants, queues or refuses. */
    void arrive(MemoryGrant grant, Notices notices) {
        notices.changed(watchers, grant.name());
        while (true) {
            if (!grant.request().mayWait()
                    && grant.request().limit().isEmpty()
                    && slots.get(grant.name()) instanceof MemoryGrant) {
                // Refused without a state, so that a claim that only tries does not make the holder's release slower.
                notices.busy(grant);
                return;
            }
            LockState state = stateOf(grant.name());
            synchronized (state) {
                if (!state.isDead()) {
                    state.arrive(grant, notices);
                    return;
                }
            }
        }
    }

    /**
     * Removes a holder or a waiter, and serves the next waiters.
     *
     * @return true if it held the lock until now
     */
    boolean leave(MemoryGrant grant, Notices notices) {
        notices.changed(watchers, grant.name());
        if (slots.remove(grant)) {
            return true;
        }
        if (!(slots.get(grant.name()) instanceof LockState state)) {
            return false;
        }
        synchronized (state) {
            boolean held = state.leave(grant, notices);
            removeIfEmpty(state);
            return held;
        }
    }

    /**
     * Makes an exclusive holder a shared one.
     *
     * @return true if it is a shared holder now
     */
    boolean downgrade(MemoryGrant grant, Notices notices) {
        LockState state = stateWith(grant);
        if (state == null) {
            return false;
        }
        synchronized (state) {
            return state.downgrade(grant, notices);
        }
    }

    /**
     * Revokes a grant. Its client is notified first, and then the next waiter gets the lock.
     *
     * @return false if it did not hold the lock any more
     */
    boolean end(MemoryGrant grant, LossReason reason) {
        LockState state = stateWith(grant);
        if (state == null) {
            return false;
        }
        synchronized (state) {
            if (!state.markEnded(grant)) {
                return false;
            }
        }
        Notices loss = new Notices();
        loss.lost(grant, reason);
        loss.deliver();
        Notices next = new Notices();
        leave(grant, next);
        next.deliver();
        return true;
    }

    /** Ends grants of a lock. */
    boolean end(String name, Predicate<MemoryGrant> which, LossReason reason) {
        boolean any = false;
        for (MemoryGrant holder : holders(slots.get(name))) {
            any |= which.test(holder) && end(holder, reason);
        }
        return any;
    }

    /** Ends what a session holds and waits for. The session must have been marked as ended before. */
    void endSession(Session session, LossReason reason) {
        slots.forEach(slot -> {
            if (slot instanceof LockState state) {
                Notices notices = new Notices();
                synchronized (state) {
                    state.removeWaiters(session, notices);
                    removeIfEmpty(state);
                }
                notices.deliver();
            }
            for (MemoryGrant holder : holders(slot)) {
                if (holder.session() == session) {
                    end(holder, reason);
                }
            }
        });
    }

    boolean isHeldBy(MemoryGrant grant) {
        return holders(slots.get(grant.name())).contains(grant);
    }

    /** The grants of a session. */
    List<MemoryGrant> heldBy(Session session) {
        List<MemoryGrant> held = new ArrayList<>();
        slots.forEach(slot -> held.addAll(holders(slot)));
        held.removeIf(holder -> holder.session() != session);
        return held;
    }

    LockInfo inspect(String name) {
        Slot slot = slots.get(name);
        List<MemoryGrant> holders = holders(slot);
        List<MemoryGrant> waiters = List.of();
        OptionalInt limit = OptionalInt.empty();
        if (slot instanceof LockState state) {
            synchronized (state) {
                holders = state.holders();
                waiters = state.waiters();
                limit = state.limit();
            }
        }
        // Described outside of the monitor: the holder's description is computed only now, by foreign code.
        LockInfo info = LockInfo.of(
                name,
                holders.stream().map(MemoryGrant::describeHolder).toList(),
                waiters.stream().map(MemoryGrant::describeWaiter).toList());
        return limit.isPresent() ? info.withLimit(limit.getAsInt()) : info;
    }

    /** Locks by name; the cursor is the last name of the page before. */
    LockPage list(String prefix, String cursor, int limit) {
        List<String> names = names(prefix).stream()
                .filter(name -> name.compareTo(cursor) > 0)
                .sorted()
                .limit(limit + 1L)
                .toList();
        if (names.size() <= limit) {
            return LockPage.last(inUse(names));
        }
        List<String> shown = names.subList(0, limit);
        return LockPage.of(inUse(shown), shown.get(limit - 1));
    }

    List<LockInfo> list(String prefix) {
        return inUse(names(prefix));
    }

    private List<String> names(String prefix) {
        List<String> names = new ArrayList<>();
        slots.forEach(slot -> names.add(slot.name()));
        names.removeIf(name -> !name.startsWith(prefix));
        return names;
    }

    private List<LockInfo> inUse(List<String> names) {
        return names.stream()
                .map(this::inspect)
                .filter(info -> !info.isFree() || !info.waiters().isEmpty())
                .toList();
    }

    int size() {
        AtomicInteger size = new AtomicInteger();
        slots.forEach(slot -> size.incrementAndGet());
        return size.get();
    }

    private static List<MemoryGrant> holders(@Nullable Slot slot) {
        if (slot instanceof LockState state) {
            synchronized (state) {
                return state.holders();
            }
        }
        return slot instanceof MemoryGrant holder ? List.of(holder) : List.of();
    }

    private LockState stateOf(String name) {
        while (true) {
            Slot slot = slots.get(name);
            if (slot instanceof LockState state) {
                return state;
            }
            LockState fresh = new LockState(name);
            if (slot instanceof MemoryGrant holder) {
                fresh.adopt(holder);
                if (slots.replace(slot, fresh)) {
                    return fresh;
                }
            } else if (slots.putIfAbsent(fresh) == null) {
                return fresh;
            }
        }
    }

    /** The state that may have a grant; null if there is none. */
    private @Nullable LockState stateWith(MemoryGrant grant) {
        if (slots.get(grant.name()) == grant) {
            LockState fresh = new LockState(grant.name());
            fresh.adopt(grant);
            if (slots.replace(grant, fresh)) {
                return fresh;
            }
        }
        return slots.get(grant.name()) instanceof LockState state ? state : null;
    }

    private void removeIfEmpty(LockState state) {
        if (state.dieIfEmpty()) {
            slots.remove(state);
        }
    }
}
