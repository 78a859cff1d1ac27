package dev.lockstep.etcd;

import dev.lockstep.LockMode;
import dev.lockstep.LossReason;
import dev.lockstep.etcd.Place.View;
import dev.lockstep.etcd.proto.Etcd.Event;
import dev.lockstep.spi.AbstractGrant;
import dev.lockstep.spi.ClaimRequest;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** A key with nothing before it that it would have to wait for. It is valid as long as its session. */
final class EtcdGrant extends AbstractGrant implements Watches.Watcher {
    private final EtcdBackend backend;
    private final Place place;
    private final ClaimRequest request;
    private final long viewedRevision;
    private final long pendingFence;
    private final boolean wantedAtFirst;
    private volatile boolean shared;
    private boolean released; // guarded by this
    private Watches.@Nullable Watch watch; // guarded by this

    EtcdGrant(EtcdBackend backend, Place place, View view, ClaimRequest request, long pendingFence) {
        super(request.listener(), view.createRevision(), place.session().validUntilNanos());
        this.backend = backend;
        this.place = place;
        this.request = request;
        this.viewedRevision = view.revision();
        this.pendingFence = pendingFence;
        this.wantedAtFirst = view.wanted();
        this.shared = request.mode() == LockMode.SHARED;
    }

    /** Connects it with its session. Does nothing if a withdrawal has released it already. */
    void begin() {
        boolean alive;
        synchronized (this) {
            if (released) {
                return;
            }
            alive = place.session().add(this);
        }
        if (wantedAtFirst) {
            signalWanted();
        }
        if (!alive) {
            signalLost(LossReason.SESSION_ENDED);
        }
        backend.holdWatches().add(this);
    }

    @Override
    public long validUntilNanos() {
        return place.session().validUntilNanos();
    }

    /** Begins to watch the queue, for others' claims and for the loss of its own key, unless it was released. */
    synchronized void watchQueue() {
        if (!isOver() && watch == null) {
            watch = backend.watches().watch(place.queue(), Keys.endOf(place.queue()), viewedRevision + 1, this);
        }
    }

    /** The watch has missed something. */
    @Override
    public void watching() {
        backend.holdWatches().look(this);
    }

    /** Looks up what a watch may have missed. Done when that is known, or nobody cares any more. */
    CompletableFuture<Void> look() {
        if (isOver()) {
            return CompletableFuture.completedFuture(null);
        }
        return backend.wire().call(Rpc.TXN, place.look(token())).thenAccept(answer -> {
            View view = place.seen(answer, token(), shared, backend.sessions());
            if (!view.isPresent()) {
                revoked();
            } else if (view.wanted()) {
                signalWanted();
            }
        });
    }

    @Override
    public void changed(Event event) {
        boolean own = event.getKv().getKey().equals(place.key());
        if (own && event.getKv().getLease() != place.session().lease()) {
            // Deleted, or written over by somebody else: it hangs on our lease no more.
            revoked();
        } else if (!own && event.getType() == Event.EventType.PUT) {
            if (place.isWantedBy(event.getKv(), shared, backend.sessions())) {
                signalWanted();
            }
        }
    }

    private synchronized boolean isOver() {
        return released || isLost();
    }

    private void revoked() {
        if (!isOver()) {
            signalLost(LossReason.REVOKED);
        }
    }

    @Override
    public CompletionStage<Boolean> release(Duration blockAtMost) {
        synchronized (this) {
            released = true;
            if (watch != null) {
                watch.cancel();
                watch = null;
            }
        }
        place.session().remove(this);
        return backend.leave(place, request.name(), token(), pendingFence).thenApply(left -> left && !isLost());
    }

    @Override
    public CompletionStage<Boolean> downgrade() {
        if (shared) {
            return CompletableFuture.completedFuture(true);
        }
        return backend.wire()
                .call(Rpc.TXN, place.downgrade(token(), Holders.write(request.holder())))
                .thenApply(answer -> {
                    shared |= answer.getSucceeded();
                    return answer.getSucceeded();
                });
    }

    @Override
    public <T> Optional<T> unwrap(Class<T> type) {
        return type == EtcdGuard.class ? Optional.of(type.cast(new EtcdGuard(place.key(), token()))) : Optional.empty();
    }
}
