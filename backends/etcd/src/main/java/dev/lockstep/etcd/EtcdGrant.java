package dev.lockstep.etcd;

import com.google.protobuf.ByteString;
import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
import dev.lockstep.LossReason;
import dev.lockstep.etcd.proto.Etcd.Event;
import dev.lockstep.spi.AbstractGrant;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.HolderText;
import dev.lockstep.spi.Retry;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** A hold: a key with no claim before it to wait for. It is valid as long as its session. */
final class EtcdGrant extends AbstractGrant implements Watches.Watcher {
    private final EtcdBackend backend;
    private final ClaimKey key;
    private final ClaimRequest request;
    private final long pendingFence;
    private final View viewed;
    private final Retry announcements;
    private volatile boolean shared;
    private boolean verified; // guarded by this, as all that follows
    private boolean released;
    private Watches.@Nullable Watch watch;
    private final Set<ByteString> beside = new HashSet<>(); // keys that may be stored beside this one
    private @Nullable CompletableFuture<List<Integer>> slots;

    EtcdGrant(EtcdBackend backend, ClaimKey key, View view, ClaimRequest request, long pendingFence) {
        super(request.listener(), view.createRevision(), key.session().validUntilNanos());
        this.backend = backend;
        this.key = key;
        this.request = request;
        this.viewed = view;
        this.verified = !view.assumed();
        this.announcements = Retry.forTtl(backend.context());
        this.pendingFence = pendingFence;
        this.shared = request.mode() == LockMode.SHARED;
    }

    /** Connects it with its session. Does nothing if a withdrawal has released it already. */
    void begin() {
        boolean alive;
        synchronized (this) {
            if (released) {
                return;
            }
            alive = key.session().add(this);
        }
        if (viewed.wanted()) {
            signalWanted();
        }
        if (!alive) {
            signalLost(LossReason.SESSION_ENDED);
        }
        if (viewed.assumed()) {
            backend.holdWatches().look(this);
        }
        if (viewed.heir()) {
            announce();
        }
        backend.holdWatches().add(this);
    }

    @Override
    public long validUntilNanos() {
        return key.session().validUntilNanos();
    }

    /** Begins to watch the queue, for others' claims and for the loss of its own key, unless it was released. */
    synchronized void watchQueue() {
        if (!isOver() && watch == null) {
            ByteString watched = key.queue().watchedWith(key.bytes());
            ByteString end = watched.equals(key.bytes()) ? ByteString.EMPTY : Keys.endOf(watched);
            watch = backend.watches().watch(watched, end, viewed.revision() + 1, this);
        }
    }

    /** The watch has missed something. */
    @Override
    public void watching() {
        backend.holdWatches().look(this);
    }

    /** Looks up changes that a watch may have missed. Completes when they are known, or the grant is over. */
    CompletableFuture<Void> look() {
        if (isOver()) {
            return CompletableFuture.completedFuture(null);
        }
        return backend.link().call(Rpc.TXN, key.look(token())).thenAccept(answer -> {
            View view = key.seen(answer, token(), shared, backend.sessions());
            if (!view.isPresent()) {
                revoked();
                return;
            }
            if (view.wanted()) {
                signalWanted();
            }
            if (verify() && view.heir()) {
                announce();
            }
        });
    }

    /** The first look since it took over; false for later ones. */
    private synchronized boolean verify() {
        boolean first = !verified;
        verified = true;
        return first;
    }

    /** Lets the next claim of a semaphore know that this one holds now, and waits no longer. */
    private void announce() {
        if (isOver()) {
            return;
        }
        backend.link()
                .call(Rpc.TXN, key.writeAgain(token(), ClaimRequests.value(request)))
                .whenComplete((answer, failure) -> {
                    if (failure != null && Failure.isUnanswered(failure)) {
                        announcements.later(this::announce); // a release wakes the next claim, too
                    }
                });
    }

    @Override
    public void changed(Event event) {
        boolean own = event.getKv().getKey().equals(key.bytes());
        if (own && event.getKv().getLease() != key.session().lease()) {
            // Deleted, or overwritten by another writer: it is not attached to our lease any more.
            revoked();
        } else if (!own && event.getType() == Event.EventType.PUT) {
            if (key.queue().isWantedBy(event.getKv(), shared, backend.sessions())) {
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
        List<ByteString> stored;
        synchronized (this) {
            released = true;
            if (watch != null) {
                watch.cancel();
                watch = null;
            }
            stored = List.copyOf(beside);
        }
        key.session().remove(this);
        CompletableFuture<Boolean> left = backend.leave(key, request.name(), token(), pendingFence, stored);
        Inline.await(left, blockAtMost);
        return left.thenApply(done -> done && !isLost());
    }

    /** The slots are found when they are first asked for; a failure is not kept. */
    @Override
    public CompletionStage<List<Integer>> slots() {
        if (!(key.queue() instanceof SemaphoreQueue queue)) {
            return super.slots();
        }
        CompletableFuture<List<Integer>> found = new CompletableFuture<>();
        boolean search;
        synchronized (this) {
            CompletableFuture<List<Integer>> known = slots;
            search = known == null || known.isCompletedExceptionally();
            if (known != null && !search) {
                found = known;
            }
            slots = found;
            beside.add(queue.slotKey(key.bytes()));
        }
        if (search) {
            new SlotSearch(backend, queue, key.bytes(), token(), this::revoked, found).start();
        }
        return backend.answer(request.name(), "to find its slots", found);
    }

    @Override
    public CompletionStage<Boolean> recordWait(Optional<LockInfo.Wait> wait) {
        ByteString waitKey = key.waitKey();
        synchronized (this) {
            if (isOver()) {
                return CompletableFuture.completedFuture(false);
            }
            beside.add(waitKey); // may be written even without an answer
        }
        Optional<ByteString> value =
                wait.map(known -> Keys.bytes(HolderText.write(known) + HolderText.line("claim", request.claimId())));
        return backend.answer(
                request.name(),
                "to store what its holder waits for",
                backend.link().call(Rpc.TXN, key.store(token(), waitKey, value)).thenApply(answer -> {
                    if (wait.isEmpty()) {
                        forget(waitKey);
                    }
                    return answer.getSucceeded();
                }));
    }

    private synchronized void forget(ByteString stored) {
        beside.remove(stored);
    }

    @Override
    public CompletionStage<Boolean> downgrade() {
        if (shared) {
            return CompletableFuture.completedFuture(true);
        }
        return backend.link()
                .call(Rpc.TXN, key.writeAgain(token(), ClaimRequests.value(request)))
                .thenApply(answer -> {
                    shared |= answer.getSucceeded();
                    return answer.getSucceeded();
                });
    }

    @Override
    public <T> Optional<T> unwrap(Class<T> type) {
        return type == EtcdGuard.class ? Optional.of(type.cast(new EtcdGuard(key.bytes(), token()))) : Optional.empty();
    }
}
