package dev.lockstep.etcd;

import dev.lockstep.LossReason;
import java.util.concurrent.CompletableFuture;

/**
 * A claim leaves its queue. Tried until etcd has confirmed it, or the session has ended and the key with it. Who waits
 * for it waits no longer than the ttl.
 */
final class Departure {
    private final EtcdBackend backend;
    private final Place place;
    private final String lockName;
    private final boolean forGood;
    private final long patienceEndsNanos;
    private final CompletableFuture<Boolean> left = new CompletableFuture<>();
    private int failures; // one try at a time

    Departure(EtcdBackend backend, Place place, String lockName, boolean forGood) {
        this.backend = backend;
        this.place = place;
        this.lockName = lockName;
        this.forGood = forGood;
        this.patienceEndsNanos = backend.context().scheduler().nanoTime()
                + backend.context().ttl().toNanos();
    }

    /** Begins. True if the key was there, false if it had gone before; exceptional if the ttl has passed without an answer. */
    CompletableFuture<Boolean> start() {
        attempt();
        return left;
    }

    private void attempt() {
        if (place.session().isEnded()) {
            left.complete(false);
            return;
        }
        delete().whenComplete((deleted, failure) -> {
            if (failure == null) {
                // After a try that was not answered, a missing key was deleted by that one.
                left.complete(deleted > 0 || failures > 0);
            } else if (Failures.isLeaseGone(failure)) {
                place.session().signalLost(LossReason.SESSION_ENDED);
                left.complete(false);
            } else {
                failed(failure);
            }
        });
    }

    private CompletableFuture<Long> delete() {
        if (!forGood) {
            return backend.wire().call(Rpc.DELETE, place.leave()).thenApply(answer -> answer.getDeleted());
        }
        return backend.wire().call(Rpc.TXN, place.leaveForGood()).thenApply(answer -> {
            if (answer.getSucceeded()) {
                Sessions.isAlive(place.session(), Requests.found(answer, 2));
            }
            return Requests.deleted(answer, 0);
        });
    }

    private void failed(Throwable failure) {
        failures++;
        if (backend.context().scheduler().nanoTime() - patienceEndsNanos >= 0) {
            left.completeExceptionally(backend.error(lockName, "to give it back", failure));
        }
        backend.later(backend.context().retryBackoff().delay(failures), this::attempt);
    }
}
