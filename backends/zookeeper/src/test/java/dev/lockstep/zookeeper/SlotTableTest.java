package dev.lockstep.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.LockMode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

class SlotTableTest {
    private record Grant(long token, int permits, boolean asked) {
        String key() {
            return "key-" + token;
        }
    }

    private static ClaimKind kind(int limit, int permits) {
        return new ClaimKind(LockMode.SHARED, OptionalInt.of(limit), permits, true);
    }

    private static SlotTable give(SlotTable table, ClaimKind kind, long token, String key, Set<String> alive) {
        return Objects.requireNonNull(table.with(kind, token, key, alive), "enough slots are free");
    }

    @Test
    void aTableComesBackFromItsBytes() {
        SlotTable table = give(SlotTable.parse(null), kind(5, 2), 7, "a.1.1", Set.of("a.1.1"));
        assertThat(SlotTable.parse(table.bytes()).of("a.1.1")).containsExactly(0, 1);
        assertThat(SlotTable.parse(table.bytes()).of("other")).isEmpty();
        assertThat(SlotTable.parse("slot.x=1 a\nslot.1\nslot.2=x a\nelse=1 a\n".getBytes())
                        .of("a"))
                .isEmpty();
    }

    /** One that was granted early and asks late must find a slot whose owners were all before it. */
    @Test
    void anOldGrantFindsASlotWhenItAsksLate() {
        SlotTable table = SlotTable.parse(null);
        for (long young = 11; young < 20; young++) {
            table = give(table, kind(2, 1), young, "young-" + young, Set.of("old", "young-" + young));
            assertThat(table.of("young-" + young)).containsExactly(0);
        }
        table = give(table, kind(2, 1), 10, "old", Set.of("old"));
        assertThat(table.of("old")).containsExactly(1);
    }

    @Test
    void manyPermitsNeedNoLongTable() {
        SlotTable table = give(SlotTable.parse(null), kind(Integer.MAX_VALUE, 1), 7, "a", Set.of("a"));
        assertThat(table.bytes()).hasSizeLessThan(20);
    }

    /** Grants in the order of tokens, which ask and go in any order: slots are unique, and tokens rise for each slot. */
    @RepeatedTest(200)
    void slotsAreUniqueAndTheirTokensRise() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        int limit = 1 + random.nextInt(6);
        long[] highest = new long[limit];
        List<Grant> held = new ArrayList<>();
        SlotTable table = SlotTable.parse(null);
        long token = 0;
        for (int step = 0; step < 200; step++) {
            int free = limit - held.stream().mapToInt(Grant::permits).sum();
            int choice = random.nextInt(3);
            if (choice == 0 && free > 0) {
                held.add(new Grant(++token, 1 + random.nextInt(free), false));
            } else if (choice == 1 && !held.isEmpty()) {
                held.remove(random.nextInt(held.size()));
            } else if (choice == 2 && !held.isEmpty()) {
                int index = random.nextInt(held.size());
                Grant grant = held.get(index);
                if (!grant.asked()) {
                    table = ask(table, limit, grant, held, highest, seed);
                    held.set(index, new Grant(grant.token(), grant.permits(), true));
                }
            }
        }
    }

    private static SlotTable ask(SlotTable table, int limit, Grant grant, List<Grant> held, long[] highest, long seed) {
        Set<String> alive = new HashSet<>();
        held.forEach(other -> alive.add(other.key()));
        SlotTable next = give(table, kind(limit, grant.permits()), grant.token(), grant.key(), alive);
        List<Integer> slots = next.of(grant.key());
        assertThat(slots).as("seed %d", seed).hasSize(grant.permits()).isSorted();
        for (Grant other : held) {
            if (other.asked()) {
                assertThat(next.of(other.key())).as("seed %d", seed).doesNotContainAnyElementsOf(slots);
            }
        }
        for (int slot : slots) {
            assertThat(grant.token()).as("seed %d", seed).isGreaterThan(highest[slot]);
            highest[slot] = grant.token();
        }
        return next;
    }
}
