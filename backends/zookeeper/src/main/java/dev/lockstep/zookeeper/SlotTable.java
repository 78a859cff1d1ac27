package dev.lockstep.zookeeper;

import dev.lockstep.spi.HolderText;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Which grants have had the slots of a semaphore last, as the data of its container says: a line for each slot that was
 * ever asked for, {@code slot.0=TOKEN KEY}. Immutable.
 */
final class SlotTable {
    /*
     * Overview. A grant gets slots when it asks for them. A slot is free if the node of its last owner is gone. Its
     * owners must have rising tokens, so a grant takes only free slots whose last token is below its own: of these, the
     * ones with the highest tokens.
     *
     * There always are enough. Grants are made in the order of tokens, and permits are never more than slots. Take the grants
     * that have no slots yet, up to any token t: say that the free slots whose last tokens are below t are no fewer than
     * their permits. A new grant keeps that true, since all last tokens are below its own. A release can only add a slot. And
     * if a grant x takes a slot with a last token below that of an older grant y, no free slot has a last token between y and
     * x. Then the same slots are there for y as for x, and what held for all grants up to x leaves enough for those up to y.
     */

    /** A slot's last owner. */
    private record Owner(long token, String key) {}

    private static final String PREFIX = "slot.";
    private static final Owner NOBODY = new Owner(0, "");

    private final Map<Integer, Owner> owners;

    private SlotTable(Map<Integer, Owner> owners) {
        this.owners = owners;
    }

    /** Parses data; lines that are no slots are left out. */
    static SlotTable parse(byte @Nullable [] data) {
        Map<Integer, Owner> owners = new TreeMap<>();
        String text = data == null ? "" : new String(data, StandardCharsets.UTF_8);
        HolderText.read(text).forEach((name, value) -> {
            int space = value.indexOf(' ');
            if (name.startsWith(PREFIX) && space > 0) {
                try {
                    int slot = Integer.parseInt(name.substring(PREFIX.length()));
                    owners.put(slot, new Owner(Long.parseLong(value.substring(0, space)), value.substring(space + 1)));
                } catch (NumberFormatException e) {
                    return; // a foreign line
                }
            }
        });
        return new SlotTable(owners);
    }

    byte[] bytes() {
        StringBuilder text = new StringBuilder();
        owners.forEach((slot, owner) -> text.append(HolderText.line(PREFIX + slot, owner.token + " " + owner.key)));
        return text.toString().getBytes(StandardCharsets.UTF_8);
    }

    /** The slots of a claim, ascending; none if it has not asked yet. */
    List<Integer> of(String key) {
        return owners.entrySet().stream()
                .filter(entry -> entry.getValue().key.equals(key))
                .map(Map.Entry::getKey)
                .toList();
    }

    /**
     * Gives slots to a grant.
     *
     * @param alive the keys of all nodes
     * @return null if too few are free, because the table or the nodes are out of date
     */
    @Nullable
    SlotTable with(ClaimKind kind, long token, String key, Set<String> alive) {
        // Slots that nobody has asked for are all alike: the first few of them are enough to choose from.
        int limit = (int) Math.min(kind.limit().orElse(0), (long) owners.size() + kind.permits());
        List<Integer> free = new ArrayList<>(IntStream.range(0, kind.limit().orElse(0))
                .filter(slot -> isFree(slot, token, alive))
                .limit(limit)
                .boxed()
                .toList());
        if (free.size() < kind.permits()) {
            return null;
        }
        free.sort(Collections.reverseOrder(Comparator.comparingLong((Integer slot) -> owner(slot).token))
                .thenComparing(slot -> slot));
        Map<Integer, Owner> next = new TreeMap<>(owners);
        free.subList(0, kind.permits()).forEach(slot -> next.put(slot, new Owner(token, key)));
        return new SlotTable(next);
    }

    private boolean isFree(int slot, long token, Set<String> alive) {
        Owner owner = owner(slot);
        return owner.token < token && !alive.contains(owner.key);
    }

    private Owner owner(int slot) {
        return owners.getOrDefault(slot, NOBODY);
    }
}
