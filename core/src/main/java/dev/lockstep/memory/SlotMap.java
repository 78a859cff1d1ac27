package dev.lockstep.memory;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Finds the slot of a name. A concurrent map that is small and fast while few names are in use at a time, as is usual
 * for locks: an insert and a remove are then one compare-and-set each, a third of what they cost in a {@link
 * ConcurrentHashMap}, and make no objects. Safe for use by many threads.
 */
final class SlotMap {
    /*
     * Overview. A fixed number of cells, and the hash of a name decides which is its own. A cell is empty, or has the
     * slot of the one name in it, or, once two names met there, a map of all that are in it. It has the map from then
     * on, so that a name has one place at each moment and each step is atomic without a lock. A cell then keeps a small
     * map permanently, but there are few cells.
     */
    private static final int CELLS = 1024;

    private final AtomicReferenceArray<@Nullable Object> cells = new AtomicReferenceArray<>(CELLS);

    /** A cell where names met. */
    private static final class Crowd extends ConcurrentHashMap<String, Slot> {
        private static final long serialVersionUID = 1L;

        Crowd(Slot first) {
            super(4);
            put(first.name(), first);
        }
    }

    @Nullable
    Slot get(String name) {
        Object cell = cells.get(indexOf(name));
        if (cell instanceof Crowd crowd) {
            return crowd.get(name);
        }
        return cell instanceof Slot slot && slot.name().equals(name) ? slot : null;
    }

    /** Inserts a slot unless its name has one, which is then returned. */
    @Nullable
    Slot putIfAbsent(Slot slot) {
        int index = indexOf(slot.name());
        while (true) {
            if (cells.compareAndSet(index, null, slot)) {
                return null;
            }
            Object cell = cells.get(index);
            if (cell instanceof Crowd crowd) {
                return crowd.putIfAbsent(slot.name(), slot);
            }
            if (cell instanceof Slot other) {
                if (other.name().equals(slot.name())) {
                    return other;
                }
                cells.compareAndSet(index, other, new Crowd(other));
            }
        }
    }

    /** Puts a slot in the place of another of the same name; false if that is not there. */
    boolean replace(Slot known, Slot next) {
        int index = indexOf(known.name());
        return cells.compareAndSet(index, known, next)
                || (cells.get(index) instanceof Crowd crowd && crowd.replace(known.name(), known, next));
    }

    /** Removes a slot; false if it is not there. */
    boolean remove(Slot known) {
        int index = indexOf(known.name());
        return cells.compareAndSet(index, known, null)
                || (cells.get(index) instanceof Crowd crowd && crowd.remove(known.name(), known));
    }

    /** Passes over all slots. Sees those that were there when it began and have stayed. */
    void forEach(Consumer<Slot> action) {
        for (int i = 0; i < CELLS; i++) {
            Object cell = cells.get(i);
            if (cell instanceof Crowd crowd) {
                crowd.values().forEach(action);
            } else if (cell instanceof Slot slot) {
                action.accept(slot);
            }
        }
    }

    private static int indexOf(String name) {
        int hash = name.hashCode();
        return (hash ^ hash >>> 10 ^ hash >>> 20) & (CELLS - 1);
    }
}
