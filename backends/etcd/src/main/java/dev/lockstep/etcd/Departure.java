package dev.lockstep.etcd;

import dev.lockstep.LossReason;
import dev.lockstep.etcd.proto.Etcd.TxnResponse;
import java.util.concurrent.CompletableFuture;

/**
 * A claim leaves its queue. Tried until etcd has confirmed it, or the session has ended and the key with it; then the place
 * is free. Who waits for it waits no longer than the ttl.
 */
final class Departure {
    private final EtcdBackend backend;
    private final Place place;
    private final String lockName;
    private final long patienceEndsNanos;
    private final CompletableFuture<Boolean> left = new CompletableFuture<>();
    private long createRevision; // one try at a time works on these
    private long pendingFence;
    private int failures;

    /**
     * Makes it.
     *
     * @param createRevision of the claim's key; 0 if it is not known to be there
     * @param pendingFence the fence of a request to enter that was not answered; 0 if there is none
     */
    Departure(EtcdBackend backend, Place place, String lockName, long createRevision, long pendingFence) {
        this.backend = backend;
        this.place = place;
        this.lockName = lockName;
        this.createRevision = createRevision;
        this.pendingFence = pendingFence;
        this.patienceEndsNanos = backend.context().scheduler().nanoTime()
                + backend.context().ttl().toNanos();
    }

    /** True if the key was there, false if it had gone before; exceptional if the ttl has passed without an answer. */
    CompletableFuture<Boolean> left() {
        return left;
    }

    void start() {
        attempt();
    }

    private void attempt() {
        if (place.session().isEnded()) {
            end(false);
            return;
        }
        delete().whenComplete((deleted, failure) -> {
            if (failure == null) {
                // After a try that was not answered, a missing key was deleted by that one.
                end(deleted || failures > 0);
            } else if (Failures.isLeaseGone(failure)) {
                place.session().signalLost(LossReason.SESSION_ENDED);
                end(false);
            } else {
                failed(failure);
            }
        });
    }

    private CompletableFuture<Boolean> delete() {
        if (pendingFence == 0) {
            return backend.wire().call(Rpc.TXN, place.leave(createRevision)).thenApply(TxnResponse::getSucceeded);
        }
        return backend.wire().call(Rpc.TXN, place.leaveForGood(pendingFence)).thenCompose(answer -> {
            if (answer.getSucceeded()) {
                place.session().fenceSeen(answer.getHeader().getRevision());
                return CompletableFuture.completedFuture(Requests.deleted(answer, 0) > 0);
            }
            return deleteBehindTheFence(answer);
        });
    }

    /** The fence has moved, and nothing that was sent under it can enter any more; but it may have entered before. */
    private CompletableFuture<Boolean> deleteBehindTheFence(TxnResponse answer) {
        var own = Requests.found(answer, 0);
        if (!place.session().endUnlessFound(Requests.found(answer, 1)) || own.isEmpty() || !place.isOwn(own.get(0))) {
            return CompletableFuture.completedFuture(false);
        }
        pendingFence = 0;
        createRevision = own.get(0).getCreateRevision();
        return delete();
    }

    private void end(boolean wasThere) {
        place.free();
        left.complete(wasThere);
    }

    private void failed(Throwable failure) {
        if (place.session().isEnded()) {
            end(false); // as when the client closes: the key has gone with its lease
            return;
        }
        failures++;
        if (backend.context().scheduler().nanoTime() - patienceEndsNanos >= 0) {
            left.completeExceptionally(backend.error(lockName, "to give it back", failure));
        }
        backend.later(backend.context().retryBackoff().delay(failures), this::attempt);
    }
}
