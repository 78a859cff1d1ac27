package dev.lockstep.internal.turnstile;

import dev.lockstep.LockMode;
import dev.lockstep.internal.concurrent.Handles;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Which threads hold a lock, and which have lost it and not released it yet. Guarded by the turnstile's mutex, except
 * when a thread reads its own exclusive hold.
 */
final class Owners {
    private static final VarHandle WRITER = Handles.of(MethodHandles.lookup(), Owners.class, "writer", Hold.class);

    /** The exclusive hold of a thread. */
    private volatile @Nullable Hold writer;

    private @Nullable Map<Thread, Hold> readers;
    private @Nullable List<Hold> lost;

    void add(Hold hold) {
        if (hold.owner == null) {
            return;
        }
        if (hold.mode == LockMode.EXCLUSIVE) {
            // No fence: the mutex publishes it to others, and its own thread knows.
            WRITER.setRelease(this, hold);
            return;
        }
        if (readers == null) {
            readers = new IdentityHashMap<>();
        }
        readers.put(hold.owner, hold);
    }

    void remove(Hold hold) {
        if (hold == writer) {
            // A thread whose claim was inline adds its hold without the mutex: its hold must not be removed instead.
            WRITER.compareAndSet(this, hold, null);
        } else if (hold.owner != null && hold.mode == LockMode.SHARED && readers != null) {
            readers.remove(hold.owner, hold);
            if (readers.isEmpty()) {
                readers = null;
            }
        }
    }

    /** Keeps a thread's lost hold until the thread has been notified. */
    void addLost(Hold hold) {
        if (hold.owner != null) {
            if (lost == null) {
                lost = new ArrayList<>(1);
            }
            lost.add(hold);
        }
    }

    /** The thread has released its lost hold, and knows of the loss. */
    void forgetLost(Hold hold) {
        if (lost != null) {
            lost.remove(hold);
            if (lost.isEmpty()) {
                lost = null;
            }
        }
    }

    /** A terminated thread cannot be notified. */
    boolean hasLost() {
        if (lost != null) {
            lost.removeIf(hold -> hold.owner != null && !hold.owner.isAlive());
            lost = lost.isEmpty() ? null : lost;
        }
        return lost != null;
    }

    /** The exclusive hold of a thread; null if it has none. A thread may ask for itself without the mutex. */
    @Nullable
    Hold writer(Thread thread) {
        Hold hold = writer;
        return hold != null && hold.owner == thread ? hold : null;
    }

    /** The shared hold of a thread; null if it has none. */
    @Nullable
    Hold reader(Thread thread) {
        return readers == null ? null : readers.get(thread);
    }

    /** A lost hold of a thread; null if it has none. */
    @Nullable
    Hold lost(Thread thread) {
        return lost(hold -> hold.owner == thread);
    }

    /** A lost hold of a thread in a mode; null if it has none. */
    @Nullable
    Hold lost(Thread thread, LockMode mode) {
        return lost(hold -> hold.owner == thread && hold.mode == mode);
    }

    private @Nullable Hold lost(Predicate<Hold> condition) {
        if (lost != null) {
            for (Hold hold : lost) {
                if (condition.test(hold)) {
                    return hold;
                }
            }
        }
        return null;
    }
}
