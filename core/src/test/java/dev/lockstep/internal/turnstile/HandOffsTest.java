package dev.lockstep.internal.turnstile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.LockOptions;
import org.junit.jupiter.api.Test;

/** How often a grant is handed off. */
class HandOffsTest {
    private static final LockOptions TWICE = LockOptions.defaults().handOff(2);

    private final HandOffs handOffs = new HandOffs();

    @Test
    void aGrantThatNobodyElseWantsIsHandedOffFreely() {
        for (int i = 0; i < 1_000; i++) {
            assertThat(handOffs.allowOneMore(TWICE, false, i)).isTrue();
            handOffs.handedOff();
        }
        assertThat(handOffs.isBudgeted()).isFalse();
        assertThat(handOffs.all()).isEqualTo(1_000);
    }

    @Test
    void aGrantThatIsWantedIsHandedOffAsOftenAsTheOptionsSay() {
        handOffs.handedOff(); // before it was wanted: does not count
        for (int i = 0; i < 2; i++) {
            assertThat(handOffs.allowOneMore(TWICE, true, 0)).isTrue();
            handOffs.handedOff();
        }
        assertThat(handOffs.allowOneMore(TWICE, true, 0)).isFalse();
    }

    @Test
    void aGrantThatIsWantedIsNotHandedOffForLong() {
        assertThat(handOffs.allowOneMore(TWICE, true, 5)).isTrue();
        assertThat(handOffs.allowOneMore(TWICE, true, 5 + HandOffs.HAND_OFF_NANOS - 1))
                .isTrue();
        assertThat(handOffs.allowOneMore(TWICE, true, 5 + HandOffs.HAND_OFF_NANOS))
                .isFalse();
    }
}
