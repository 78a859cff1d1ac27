package dev.lockstep.memory;

import static dev.lockstep.memory.Clients.isWanted;
import static dev.lockstep.memory.Clients.release;
import static dev.lockstep.memory.Clients.withdraw;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.spi.Claim;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** When a holder is notified that another client waits for its lock. */
class WantedTest extends EngineTest {
    @Test
    void aGrantIsWantedAsSoonAsAnotherClientWaits() {
        Claim held = a.exclusive("x");
        assertThat(isWanted(held)).isFalse();
        b.exclusive("x");
        assertThat(isWanted(held)).isTrue();
    }

    @Test
    void aGrantIsWantedFromTheBeginningIfAnotherClientWaits() {
        Claim held = a.exclusive("x");
        Claim next = b.exclusive("x");
        c.exclusive("x");
        List<Boolean> wantedWhenGranted = new ArrayList<>();
        next.outcome().thenRun(() -> wantedWhenGranted.add(isWanted(next)));
        release(held);
        assertThat(wantedWhenGranted).containsExactly(true);
    }

    @Test
    void theLastOfTheQueueIsNotWanted() {
        Claim held = a.exclusive("x");
        Claim next = b.exclusive("x");
        release(held);
        assertThat(isWanted(next)).isFalse();
    }

    @Test
    void ownClaimsDoNotMakeAGrantWanted() {
        Claim held = a.shared("x");
        Claim own = a.exclusive("x");
        assertThat(isWanted(held)).isFalse();
        release(held);
        a.exclusive("x");
        assertThat(isWanted(own)).isFalse();
        b.exclusive("x");
        assertThat(isWanted(own)).isTrue();
    }

    @Test
    void everyReaderThatKeepsAWriterOutIsWanted() {
        Claim one = a.shared("x");
        Claim two = b.shared("x");
        Claim three = c.shared("x");
        c.exclusive("x");
        assertThat(isWanted(one)).isTrue();
        assertThat(isWanted(two)).isTrue();
        assertThat(isWanted(three)).as("its own client's claim").isFalse();
    }

    @Test
    void readersServedTogetherDoNotWantEachOther() {
        Claim writer = a.exclusive("x");
        Claim one = b.shared("x");
        Claim two = c.shared("x");
        release(writer);
        assertThat(isWanted(one)).isFalse();
        assertThat(isWanted(two)).isFalse();
    }

    @Test
    void aClaimThatGaveUpNoLongerMakesGrantsWanted() {
        Claim held = a.exclusive("x");
        Claim next = b.exclusive("x");
        withdraw(c.exclusive("x"));
        release(held);
        assertThat(isWanted(next)).isFalse();
    }
}
