package dev.lockstep.torture;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;

/** A checker that cannot fail proves nothing. */
@Timeout(1_000)
@Isolated("each bug has its time")
class PlantedBugsTest {
    @Test
    void everyPlantedBugIsFoundAndNothingElse() throws InterruptedException {
        Proof proof = Proof.run(1);
        assertThat(proof.holds()).as(() -> String.join("\n", proof.lines())).isTrue();
    }
}
