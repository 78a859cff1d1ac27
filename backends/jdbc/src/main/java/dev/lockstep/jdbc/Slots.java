package dev.lockstep.jdbc;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The slots of a semaphore's grant as stored in the tables: ascending, with ranges, such as {@code 0-2,5}. */
final class Slots {
    private Slots() {}

    /** Writes slots; null if there are none. */
    static @Nullable String write(List<Integer> slots) {
        if (slots.isEmpty()) {
            return null;
        }
        StringBuilder text = new StringBuilder();
        for (int from = 0; from < slots.size(); ) {
            int to = from;
            while (to + 1 < slots.size() && slots.get(to + 1) == slots.get(to) + 1) {
                to++;
            }
            text.append(text.length() == 0 ? "" : ",").append(slots.get(from));
            if (to > from) {
                text.append('-').append(slots.get(to));
            }
            from = to + 1;
        }
        return text.toString();
    }

    /** Reads slots; none from nothing, which is what a lock has. */
    static List<Integer> read(@Nullable String text) {
        if (text == null || text.isEmpty()) {
            return List.of();
        }
        List<Integer> slots = new ArrayList<>();
        for (String range : text.split(",", -1)) {
            int dash = range.indexOf('-');
            int first = Integer.parseInt(dash < 0 ? range : range.substring(0, dash));
            int last = dash < 0 ? first : Integer.parseInt(range.substring(dash + 1));
            for (int slot = first; slot <= last; slot++) {
                slots.add(slot);
            }
        }
        return List.copyOf(slots);
    }

    /** The lowest slots that nobody has. */
    static List<Integer> lowest(List<LockState.Row> held, int count) {
        BitSet taken = new BitSet();
        held.forEach(row -> row.slots().forEach(taken::set));
        List<Integer> free = new ArrayList<>();
        for (int slot = taken.nextClearBit(0); free.size() < count; slot = taken.nextClearBit(slot + 1)) {
            free.add(slot);
        }
        return List.copyOf(free);
    }
}
