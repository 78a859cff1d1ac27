package dev.lockstep.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Slots as text. */
class SlotsTest {
    @Test
    void rangesAreShort() {
        assertThat(Slots.write(List.of())).isNull();
        assertThat(Slots.write(List.of(0))).isEqualTo("0");
        assertThat(Slots.write(List.of(0, 1, 2, 5, 7, 8))).isEqualTo("0-2,5,7-8");
    }

    @Test
    void writtenSlotsAreRead() {
        assertThat(Slots.read(null)).isEmpty();
        for (List<Integer> slots : List.of(List.of(3), List.of(0, 2, 4), List.of(1, 2, 3, 9))) {
            assertThat(Slots.read(Slots.write(slots))).isEqualTo(slots);
        }
    }

    @Test
    void theLowestFreeOnesAreTaken() {
        List<LockState.Row> held = List.of(row(0, 2), row(3, 6));
        assertThat(Slots.lowest(List.of(), 2)).containsExactly(0, 1);
        assertThat(Slots.lowest(held, 3)).containsExactly(1, 4, 5);
        assertThat(Slots.lowest(held, 4)).containsExactly(1, 4, 5, 7);
    }

    private static LockState.Row row(Integer... slots) {
        return new LockState.Row("c", "s", true, 1, slots.length, List.of(slots), 0);
    }
}
