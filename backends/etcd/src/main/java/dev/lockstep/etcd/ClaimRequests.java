package dev.lockstep.etcd;

import com.google.protobuf.ByteString;
import dev.lockstep.LockMode;
import dev.lockstep.etcd.ClaimKey.Refusal;
import dev.lockstep.etcd.proto.Etcd.KeyValue;
import dev.lockstep.etcd.proto.Etcd.TxnRequest;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.HolderText;
import io.grpc.MethodDescriptor;
import java.util.List;
import java.util.function.Consumer;

/** Sends the requests of a claim, and interprets the answers for it. Safe for use by many threads; nothing blocks. */
final class ClaimRequests {
    /** The claim. Receives the answer to each request in one call. */
    interface Claimant {
        /** The claim is in the queue, or was. */
        void viewed(ClaimKey at, View view);

        /** The claim has not entered the queue under a fence. */
        void refused(ClaimKey at, Refusal why, long fence);

        /** The whole queue, before the claim enters it. */
        void surveyed(ClaimKey at, long revision, List<KeyValue> queue);

        /** Whether the key that it waits for is unchanged. */
        void checked(boolean blocked);

        /** The request failed; one to enter was sent under a fence, others under 0. */
        void failed(ClaimKey at, Throwable failure, long fence);
    }

    private final EtcdBackend backend;
    private final ClaimRequest request;
    private final Claimant claim;

    ClaimRequests(EtcdBackend backend, ClaimRequest request, Claimant claim) {
        this.backend = backend;
        this.request = request;
        this.claim = claim;
    }

    /** The value of a claim's key, for people to read. */
    static ByteString value(ClaimRequest request) {
        return Keys.bytes(HolderText.write(request.holder()) + HolderText.line("claim", request.claimId()));
    }

    /** Enters the queue; only if nobody has come since a revision, unless that is 0. */
    void enter(ClaimKey at, long admittedAt) {
        long fence = at.session().fence();
        ByteString value = value(request);
        if (admittedAt != 0) {
            enter(at, fence, at.enterAfter(admittedAt, value, fence));
        } else if (backend.uncontended().isLikely(request.name())) {
            send(at, fence, Rpc.TXN, at.enterIfUnused(value, fence), answer -> {
                if (answer.getSucceeded()) {
                    claim.viewed(at, at.entered(answer));
                } else {
                    enter(at, fence, at.enter(value, !request.mayWait(), fence));
                }
            });
        } else {
            enter(at, fence, at.enter(value, !request.mayWait(), fence));
        }
    }

    private void enter(ClaimKey at, long fence, TxnRequest how) {
        send(at, fence, Rpc.TXN, how, answer -> {
            backend.uncontended().entered(request.name(), ClaimKey.wasUnused(answer));
            if (ClaimKey.hasEntered(answer)) {
                claim.viewed(at, at.entered(answer));
            } else {
                claim.refused(at, at.refusal(answer), fence);
            }
        });
    }

    /** Looks at the whole queue before the claim enters it. */
    void survey(ClaimKey at) {
        send(
                at,
                0,
                Rpc.RANGE,
                at.queue().everything().build(),
                found -> claim.surveyed(at, found.getHeader().getRevision(), found.getKvsList()));
    }

    /** Looks up the position of the claim in the queue. */
    void look(ClaimKey at, long created) {
        boolean shared = request.mode() == LockMode.SHARED;
        send(
                at,
                0,
                Rpc.TXN,
                at.look(created),
                answer -> claim.viewed(at, at.seen(answer, created, shared, backend.sessions())));
    }

    /** The same by the whole queue. */
    void lookAround(ClaimKey at, long created) {
        send(
                at,
                0,
                Rpc.TXN,
                at.lookAround(),
                answer -> claim.viewed(at, at.seenAround(answer, created, backend.sessions())));
    }

    /** Looks whether the one key that the claim waits for is unchanged. */
    void check(ClaimKey at, Blockers waitsFor, long created) {
        send(
                at,
                0,
                Rpc.RANGE,
                Txns.look(waitsFor.key()).build(),
                found -> claim.checked(at.queue().isBlockedBy(found, waitsFor, created)));
    }

    private <Q, A> void send(ClaimKey at, long fence, MethodDescriptor<Q, A> method, Q what, Consumer<A> then) {
        backend.link().call(method, what).whenComplete((answer, failure) -> {
            if (failure != null) {
                claim.failed(at, failure, fence);
            } else {
                then.accept(answer);
            }
        });
    }
}
