package dev.lockstep.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SlotMapTest {
    private final SlotMap map = new SlotMap();

    /** Three names of one hash, and so of one cell. */
    private final Slot one = new LockState("Aa");

    private final Slot two = new LockState("BB");
    private final Slot three = new LockState("C#");

    private List<Slot> all() {
        List<Slot> all = new ArrayList<>();
        map.forEach(all::add);
        return all;
    }

    @Test
    void aNameHasOneSlot() {
        assertThat(map.putIfAbsent(one)).isNull();
        assertThat(map.putIfAbsent(new LockState("Aa"))).isSameAs(one);
        assertThat(map.get("Aa")).isSameAs(one);
        assertThat(map.get("BB")).isNull();
    }

    @Test
    void namesThatMeetInACellKeepApart() {
        map.putIfAbsent(one);
        assertThat(map.putIfAbsent(two)).isNull();
        assertThat(map.putIfAbsent(three)).isNull();
        assertThat(map.get("Aa")).isSameAs(one);
        assertThat(map.get("BB")).isSameAs(two);
        assertThat(map.get("C#")).isSameAs(three);
        assertThat(all()).containsExactlyInAnyOrder(one, two, three);

        assertThat(map.remove(two)).isTrue();
        assertThat(map.get("BB")).isNull();
        assertThat(map.putIfAbsent(new LockState("Aa"))).isSameAs(one);
    }

    @Test
    void onlyTheSlotItselfIsRemovedOrReplaced() {
        for (boolean crowded : List.of(false, true)) {
            if (crowded) {
                map.putIfAbsent(two);
                map.putIfAbsent(three);
            }
            LockState other = new LockState("Aa");
            assertThat(map.remove(one)).isFalse();
            assertThat(map.replace(one, other)).isFalse();
            map.putIfAbsent(one);
            assertThat(map.remove(other)).isFalse();
            assertThat(map.replace(other, one)).isFalse();
            assertThat(map.replace(one, other)).isTrue();
            assertThat(map.get("Aa")).isSameAs(other);
            assertThat(map.remove(other)).isTrue();
            assertThat(map.get("Aa")).isNull();
        }
    }

    @Test
    void holdsFarMoreNamesThanItHasCells() {
        IntStream.range(0, 20_000).forEach(i -> map.putIfAbsent(new LockState("name " + i)));
        assertThat(all()).hasSize(20_000);
        for (int i = 0; i < 20_000; i++) {
            Slot slot = map.get("name " + i);
            assertThat(slot != null && map.remove(slot)).isTrue();
        }
        assertThat(all()).isEmpty();
    }
}
