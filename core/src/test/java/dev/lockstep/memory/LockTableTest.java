package dev.lockstep.memory;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.LockMode;
import dev.lockstep.LossReason;
import dev.lockstep.spi.Claim;
import org.junit.jupiter.api.Test;

/** Races of the fast way, step by step, since threads hit them too rarely. */
class LockTableTest extends EngineTest {
    private final MemoryBackend backend = (MemoryBackend) a.backend();
    private final LockTable table = backend.table();

    private MemoryGrant attempt(Session session) {
        return new MemoryGrant(backend, session, a.request("x", LockMode.EXCLUSIVE, true, true), null);
    }

    @Test
    void aGrantThatIsInsertedAfterItsSessionEndedDoesNotStay() {
        Session ended = backend.session();
        engine.expireSession("a");
        assertThat(backend.session()).isNotSameAs(ended);

        assertThat(table.takeUnused(attempt(ended))).isFalse();

        assertThat(engine.lockCount()).isZero();
    }

    @Test
    void aGrantThatIsRevokedBeforeItHasATokenNeverGetsOne() {
        MemoryGrant grant = attempt(backend.session());
        grant.markEnded();
        assertThat(grant.drawToken()).isFalse();
        assertThat(grant.token()).isNotPositive();
    }

    @Test
    void endingAGrantThatHasLeftChangesNothing() {
        MemoryGrant grant = attempt(backend.session());
        assertThat(table.takeUnused(grant)).isTrue();
        assertThat(table.leaveUnwanted(grant)).isTrue();
        Claim next = b.exclusive("x");

        assertThat(table.end(grant, LossReason.REVOKED)).isFalse();
        assertThat(table.downgrade(grant, new Notices())).isFalse();
        assertThat(table.leave(grant, new Notices())).isFalse();

        assertThat(grant.isLost()).isFalse();
        assertThat(Clients.lost(next)).isNotDone();
    }

    @Test
    void onlyTryingDoesNotSlowTheHoldersRelease() {
        MemoryGrant grant = attempt(backend.session());
        assertThat(table.takeUnused(grant)).isTrue();
        b.tryExclusive("x");
        b.tryShared("x");
        assertThat(table.leaveUnwanted(grant)).as("it is still its own slot").isTrue();
    }
}
