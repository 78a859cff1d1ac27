package dev.lockstep.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.LockMode;
import dev.lockstep.LossReason;
import dev.lockstep.spi.LockBackend;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Steps of the backend in the worst order. */
class EtcdRacesTest extends SingleMemberTestCase {
    private EtcdBackend backend;

    @BeforeEach
    void openBackend() {
        backend = closedAfterwards(new Backends(namespace, "etcd://" + server.address()))
                .open();
    }

    /** A withdrawal can release a grant between its making and its beginning. */
    @Test
    void aGrantThatWasReleasedBeforeItBeganIsNotKept() throws Exception {
        TestClaim claim = TestClaim.of(NAME, "client.1");
        Session session = Backends.session(backend);
        Place place = new Place(backend.keys(), session, NAME, LockMode.EXCLUSIVE, claim.claimId());
        var answer = backend.wire()
                .call(Rpc.TXN, place.enter(Keys.bytes("value"), false, session.fence()))
                .get();
        EtcdGrant grant = new EtcdGrant(backend, place, place.entered(answer), claim, false);
        assertThat(grant.release(LockBackend.DO_NOT_BLOCK).toCompletableFuture().get())
                .isTrue();
        grant.begin();
        session.signalLost(LossReason.SESSION_ENDED);
        assertThat(claim.lost()).isNotDone();
    }
}
