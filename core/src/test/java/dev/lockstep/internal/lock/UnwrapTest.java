package dev.lockstep.internal.lock;

import static dev.lockstep.internal.TurnstileFixture.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.HolderInfo;
import dev.lockstep.Lease;
import dev.lockstep.internal.ScriptedBackend.ScriptedGrant;
import dev.lockstep.internal.TurnstileFixture;
import dev.lockstep.internal.fallback.FallbackFixture;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/**
 * An engine's additions to its grants pass through the layers above it, and the description of a claim is always the
 * same.
 */
class UnwrapTest {
    private final TurnstileFixture fixture = new TurnstileFixture();

    @Test
    void aLeaseGivesWhatTheEngineAddsToItsGrant() {
        fixture.engine.answersAtOnce = true;
        Lease lease = get(fixture.lock.acquireAsync());
        assertThat(lease.unwrap(ScriptedGrant.class)).containsSame(fixture.engine.grant(0));
        assertThat(lease.unwrap(String.class)).isEmpty();
    }

    @Test
    void aMultiLockOfOneNameGivesThatOfItsOnlyGrant() {
        fixture.engine.answersAtOnce = true;
        Lease one = get(fixture.client.multiLock("a").acquireAsync());
        assertThat(one.unwrap(ScriptedGrant.class)).containsSame(fixture.engine.grant(0));
        Lease two = get(fixture.client.multiLock("b", "c").acquireAsync());
        assertThat(two.unwrap(ScriptedGrant.class)).isEmpty();
    }

    @Test
    void aHoldTakenInFallbackGivesNothing() {
        FallbackFixture both = new FallbackFixture();
        both.primary.answersAtOnce = true;
        Lease ofEngine = get(both.client.lock("b").acquireAsync());
        assertThat(ofEngine.unwrap(ScriptedGrant.class)).containsSame(both.primary.grant(0));
        both.primary.answersAtOnce = false;
        Lease inFallback = both.enterHolding();
        assertThat(inFallback.unwrap(ScriptedGrant.class)).isEmpty();
    }

    @Test
    void theHolderIsTheSameAtEveryLook() {
        fixture.lock.acquireAsync();
        HolderInfo first = fixture.engine.claim(0).request.holder();
        fixture.time.advance(Duration.ofSeconds(1));
        assertThat(fixture.engine.claim(0).request.holder()).isEqualTo(first);
    }
}
