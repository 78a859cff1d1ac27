package dev.lockstep.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.torture.Witness.Seen;
import org.junit.jupiter.api.Test;

class RegistersTest {
    private final Registers registers = new Registers();

    @Test
    void onlyTheTokenSavesTheUpdateAfterAPausedWriter() {
        Seen paused = registers.read(1);
        Seen next = registers.read(2);
        registers.write(next, true, 2);
        registers.write(paused, true, 1); // it looked at its lease before the pause
        assertThat(registers.naiveLost()).isEqualTo(1);
        assertThat(registers.deadlineLost()).isEqualTo(1);
        assertThat(registers.fencedLost()).isZero();
        assertThat(registers.refused()).isEqualTo(1);
    }

    @Test
    void aWriterThatChecksItsLeaseWritesNothingOnceItIsLost() {
        Seen paused = registers.read(1);
        registers.write(registers.read(2), true, 2);
        registers.write(paused, false, 1);
        assertThat(registers.naiveLost()).isEqualTo(1);
        assertThat(registers.deadlineLost()).isZero();
    }

    @Test
    void aReadKeepsEarlierHoldersOut() {
        Seen paused = registers.read(1);
        Seen next = registers.read(2);
        registers.write(paused, true, 1);
        registers.write(next, true, 2);
        assertThat(registers.fencedLost()).isZero();
        assertThat(registers.refused()).isEqualTo(1);
    }

    @Test
    void aLateReadWithAnOldTokenIsRefused() {
        registers.write(registers.read(2), true, 2);
        Seen late = registers.read(1);
        registers.write(late, true, 1);
        assertThat(registers.refused()).isEqualTo(1);
        assertThat(registers.fencedLost()).isZero();
    }

    @Test
    void equalTokensOfTwoLoseAnUpdate() {
        Seen one = registers.read(1);
        Seen other = registers.read(1);
        registers.write(one, true, 1);
        registers.write(other, true, 1);
        assertThat(registers.fencedLost()).isEqualTo(1);
    }
}
