package dev.lockstep.etcd;

import com.google.protobuf.ByteString;
import dev.lockstep.LossReason;
import dev.lockstep.etcd.proto.Etcd.TxnResponse;
import dev.lockstep.spi.Retry;
import java.util.Collection;
import java.util.concurrent.CompletableFuture;

/**
 * A claim leaves its queue. It is tried until etcd has confirmed it, or the session has ended and the key with it; then
 * the key is free. Callers wait for it no longer than the ttl.
 */
final class Release {
    private final EtcdBackend backend;
    private final ClaimKey key;
    private final String lockName;
    private final Collection<ByteString> beside;
    private final long patienceEndsNanos;
    private final CompletableFuture<Boolean> left = new CompletableFuture<>();
    private long createRevision; // one try at a time works on these
    private long pendingFence;
    private final Retry retry;

    /**
     * Makes it.
     *
     * @param createRevision of the claim's key; 0 if it is not known to be there
     * @param pendingFence the fence of a request to enter that was not answered; 0 if there is none
     * @param beside keys that are stored beside the claim's key, and deleted with it
     */
    Release(
            EtcdBackend backend,
            ClaimKey key,
            String lockName,
            long createRevision,
            long pendingFence,
            Collection<ByteString> beside) {
        this.backend = backend;
        this.key = key;
        this.lockName = lockName;
        this.beside = beside;
        this.createRevision = createRevision;
        this.pendingFence = pendingFence;
        this.retry = Retry.endless(backend.context());
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
        if (key.session().isEnded()) {
            end(false);
            return;
        }
        delete().whenComplete((deleted, failure) -> {
            if (failure == null) {
                // If an earlier try was not answered and the key is missing, that try deleted it.
                end(deleted || retry.failures() > 0);
            } else if (Failure.isLeaseGone(failure)) {
                key.session().signalLost(LossReason.SESSION_ENDED);
                end(false);
            } else {
                failed(failure);
            }
        });
    }

    private CompletableFuture<Boolean> delete() {
        if (pendingFence == 0) {
            return backend.link()
                    .call(Rpc.TXN, key.leave(createRevision, beside))
                    .thenApply(TxnResponse::getSucceeded);
        }
        return backend.link()
                .call(Rpc.TXN, key.leaveForGood(pendingFence, beside))
                .thenCompose(answer -> {
                    if (answer.getSucceeded()) {
                        key.session().fenceSeen(answer.getHeader().getRevision());
                        return CompletableFuture.completedFuture(Txns.deleted(answer, 0) > 0);
                    }
                    return deleteBehindTheFence(answer);
                });
    }

    /**
     * The fence has moved, and no request that was sent under it can enter any more; but one may have entered before.
     */
    private CompletableFuture<Boolean> deleteBehindTheFence(TxnResponse answer) {
        var own = Txns.found(answer, 0);
        if (!key.session().endUnlessFound(Txns.found(answer, 1)) || own.isEmpty() || !key.isOwn(own.get(0))) {
            return CompletableFuture.completedFuture(false);
        }
        pendingFence = 0;
        createRevision = own.get(0).getCreateRevision();
        return delete();
    }

    private void end(boolean wasThere) {
        key.free();
        left.complete(wasThere);
    }

    private void failed(Throwable failure) {
        if (key.session().isEnded()) {
            end(false); // as when the client closes: the key has gone with its lease
            return;
        }
        if (backend.context().scheduler().nanoTime() - patienceEndsNanos >= 0) {
            left.completeExceptionally(backend.error(lockName, "to release it", failure));
        }
        retry.later(this::attempt);
    }
}
