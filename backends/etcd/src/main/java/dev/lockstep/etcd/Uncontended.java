package dev.lockstep.etcd;

import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The locks that a client has found unused several times in a row, as far as they are remembered. It is unlikely to
 * find other claims there, so it sends only the small transaction. Safe for use by many threads.
 */
final class Uncontended {
    /** A small transaction that fails costs a request, so it is sent only where many would have been enough. */
    private static final int MANY = 4;

    private static final int SLOTS = 1 << 12;

    private record Name(String name, int inARow) {}

    private final AtomicReferenceArray<@Nullable Name> slots = new AtomicReferenceArray<>(SLOTS);

    private static int slot(String name) {
        int hash = name.hashCode();
        return (hash ^ hash >>> 16) & SLOTS - 1;
    }

    /** Whether the lock was unused so often that it is likely to be so now. */
    boolean isLikely(String name) {
        Name known = slots.get(slot(name));
        return known != null && known.inARow >= MANY && known.name.equals(name);
    }

    /** A claim for the lock has entered its queue; what was in the name's slot is forgotten. */
    void entered(String name, boolean unused) {
        int slot = slot(name);
        Name known = slots.get(slot);
        boolean same = known != null && known.name.equals(name);
        if (!unused) {
            if (same) {
                slots.set(slot, null);
            }
        } else if (!same) {
            slots.set(slot, new Name(name, 1));
        } else if (known.inARow < MANY) {
            slots.set(slot, new Name(name, known.inARow + 1));
        }
    }
}
