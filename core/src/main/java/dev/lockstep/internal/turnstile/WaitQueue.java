package dev.lockstep.internal.turnstile;

import dev.lockstep.LockMode;
import org.jspecify.annotations.Nullable;

/** The calls that wait at a turnstile, in order of arrival. Guarded by the turnstile's mutex, except for one read. */
final class WaitQueue {
    private final Chain<Waiter> waiters = new Chain<>();

    /** Calls that gave up and wait until what they left behind is gone. */
    private final Chain<Waiter> leaving = new Chain<>();

    private int exclusive;
    private boolean alwaysAwaited;

    /**
     * Written before the passages are looked at, so that a thread that ends one without the mutex sees it, or is seen.
     */
    private volatile boolean awaited;

    void add(Waiter waiter) {
        waiters.add(waiter);
        added(waiter);
    }

    /** Adds a call that came before all others, but late. */
    void addFirst(Waiter waiter) {
        waiters.addFirst(waiter);
        added(waiter);
    }

    private void added(Waiter waiter) {
        if (waiter.mode() == LockMode.EXCLUSIVE) {
            exclusive++;
        }
        awaited = true;
    }

    void remove(Waiter waiter) {
        if (!waiters.remove(waiter)) {
            return;
        }
        if (waiter.mode() == LockMode.EXCLUSIVE) {
            exclusive--;
        }
        updateAwaited();
    }

    private void updateAwaited() {
        if (waiters.isEmpty() && leaving.isEmpty() && !alwaysAwaited) {
            awaited = false;
        }
    }

    /** Keeps a call that gave up until {@link #left}. */
    void leaves(Waiter waiter) {
        leaving.add(waiter);
        awaited = true;
    }

    @Nullable
    Waiter firstLeaving() {
        return leaving.first();
    }

    /** False if it is not kept. */
    boolean left(Waiter waiter) {
        boolean kept = leaving.remove(waiter);
        updateAwaited();
        return kept;
    }

    boolean isEmpty() {
        return waiters.isEmpty();
    }

    boolean hasExclusive() {
        return exclusive > 0;
    }

    @Nullable
    Waiter first() {
        return waiters.first();
    }

    @Nullable
    Waiter firstOf(LockMode mode) {
        Waiter waiter = waiters.first();
        while (waiter != null && waiter.mode() != mode) {
            waiter = waiter.next;
        }
        return waiter;
    }

    /** From now on there is always a waiter for passages to end. */
    void awaitAlways() {
        alwaysAwaited = true;
        awaited = true;
    }

    /** Whether a call waits for passages to end. May be called without the mutex. */
    boolean isAwaited() {
        return awaited;
    }
}
