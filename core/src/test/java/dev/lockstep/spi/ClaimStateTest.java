package dev.lockstep.spi;

import static dev.lockstep.spi.ClaimState.ASKING;
import static dev.lockstep.spi.ClaimState.ASKING_AGAIN;
import static dev.lockstep.spi.ClaimState.LEAVING;
import static dev.lockstep.spi.ClaimState.RESTING;
import static dev.lockstep.spi.ClaimState.SETTLED;
import static dev.lockstep.spi.ClaimState.WITHDRAWN;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ClaimStateTest {
    @Test
    void oneRequestIsOnItsWayAtATime() {
        assertThat(RESTING.asked()).isEqualTo(ASKING);
        assertThat(ASKING.asked()).isEqualTo(ASKING_AGAIN);
        assertThat(ASKING_AGAIN.rested()).isEqualTo(RESTING);
    }

    @Test
    void aWithdrawalWaitsForTheRequestThatIsOnItsWay() {
        assertThat(ASKING.withdrawn()).isEqualTo(LEAVING);
        assertThat(LEAVING.rested()).isEqualTo(WITHDRAWN);
        assertThat(RESTING.withdrawn()).isEqualTo(WITHDRAWN);
        assertThat(SETTLED.withdrawn()).isEqualTo(WITHDRAWN);
    }

    @ParameterizedTest
    @EnumSource(names = {"LEAVING", "SETTLED", "WITHDRAWN"})
    void anEndedClaimStaysEnded(ClaimState over) {
        assertThat(over.isOpen()).isFalse();
        assertThat(over.asked()).isEqualTo(over);
        assertThat(over.settled()).isEqualTo(over);
        assertThat(over.rested().isOpen()).isFalse();
        assertThat(over.withdrawn().isOpen()).isFalse();
    }
}
