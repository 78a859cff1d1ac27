package dev.lockstep.etcd;

import com.google.protobuf.ByteString;
import dev.lockstep.LossReason;
import dev.lockstep.etcd.Place.View;
import dev.lockstep.etcd.proto.Etcd.Event;
import dev.lockstep.etcd.proto.Etcd.RangeResponse;
import dev.lockstep.etcd.proto.Etcd.TxnResponse;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.Outcome;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** A claim on its way through a lock's queue. Safe for use by many threads; nothing blocks. */
final class EtcdClaim implements Claim, Watches.Watcher {
    /*
     * Overview.
     *
     *   advance:  no key in the present session   -> enter the queue (one transaction)
     *             key there                       -> look at the queue (one transaction that only reads)
     *             a watch has come into place     -> see whether what it waits for is still there (one range)
     *   and then: nothing before it               -> granted
     *             something before it             -> watch that; look again when it changes
     *             key vanished, or a new session  -> advance
     *             no answer                       -> advance after a while
     *             it, or a session, is refused    -> failed
     *
     * One request is on its way at a time; whatever happens meanwhile leads to one more look. What it waits for is looked at
     * again with each renewal, since etcd can drop an event. A claim whose request to enter was not answered may still
     * enter later, even after it was withdrawn: `pendingFence` makes whoever ends the claim leave for good.
     */
    private enum Next {
        WAIT,
        ADVANCE,
        ADVANCE_LATER
    }

    private final EtcdBackend backend;
    private final ClaimRequest request;
    private final CompletableFuture<Outcome> outcome = new CompletableFuture<>();
    private final CompletableFuture<Void> gone = new CompletableFuture<>();

    // Guarded by this.
    private @Nullable Place place;
    private long createRevision; // of its key; 0 if it is not known to be there
    private long pendingFence; // under which a request to enter was sent and not answered; 0 if there is none
    private boolean inFlight;
    private boolean again;
    private boolean settled; // answered or withdrawn
    private boolean withdrawn;
    private boolean queueing; // a stranger's key is in the queue, so that it must be entered to be judged
    private boolean around; // the whole queue must be looked at
    private int failures;
    private @Nullable EtcdGrant grant;
    private final Blocker blocker;

    private volatile boolean mustWait;

    EtcdClaim(EtcdBackend backend, ClaimRequest request) {
        this.backend = backend;
        this.request = request;
        this.queueing = request.mayWait();
        this.blocker = new Blocker(backend.watches(), this);
    }

    /** Does the next step, unless one is under way: then once more after it. */
    void advance() {
        Place at;
        long created;
        boolean queue;
        boolean everything;
        ByteString waitsFor;
        synchronized (this) {
            if (settled) {
                return;
            }
            if (inFlight) {
                again = true;
                return;
            }
            if (place == null || place.session().isEnded()) {
                blocker.forget();
                createRevision = 0;
                pendingFence = 0; // what was sent with the last session's lease dies with it
                place = backend.sessions().place(request.name(), request.mode());
            }
            inFlight = place != null;
            again = false;
            at = place;
            created = createRevision;
            queue = queueing;
            everything = around;
            waitsFor = blocker.unchanged();
        }
        if (at == null) {
            awaitSession();
        } else if (created == 0) {
            enter(at, !queue);
        } else if (waitsFor != null) {
            check(at, waitsFor, created);
        } else {
            look(at, created, everything);
        }
    }

    /** With the next session the claim is called again; but etcd may not want one. */
    private void awaitSession() {
        Throwable refusal = backend.sessions().refusal();
        if (refusal != null) {
            fail(backend.error(request.name(), "opening a session", refusal));
        }
    }

    private void enter(Place at, boolean onlyIfFree) {
        long fence = at.session().fence();
        backend.wire()
                .call(Rpc.TXN, at.enter(Holders.write(request.holder()), onlyIfFree, fence))
                .whenComplete((answer, failure) -> {
                    if (failure != null) {
                        failed(at, failure, fence);
                    } else if (answer.getSucceeded()) {
                        viewed(at, at.entered(answer));
                    } else {
                        refused(at, answer, onlyIfFree, fence);
                    }
                });
    }

    private void look(Place at, long created, boolean everything) {
        Sessions own = backend.sessions();
        backend.wire()
                .call(Rpc.TXN, everything ? at.lookAround() : at.look(created))
                .whenComplete((answer, failure) -> {
                    if (failure != null) {
                        failed(at, failure, 0);
                    } else {
                        viewed(at, everything ? at.seenAround(answer, created, own) : at.seen(answer, created, own));
                    }
                });
    }

    private void check(Place at, ByteString waitsFor, long created) {
        backend.wire().call(Rpc.RANGE, Requests.look(waitsFor).build()).whenComplete((found, failure) -> {
            if (failure != null) {
                failed(at, failure, 0);
            } else if (at.isBlockedBy(found, created)) {
                rest(Next.WAIT);
            } else {
                markChanged();
                rest(Next.ADVANCE);
            }
        });
    }

    private synchronized void markChanged() {
        blocker.markChanged();
    }

    /** What it waits for, if it waits in a session and nothing is on its way. */
    synchronized Optional<BlockerCheck.Waiting> waiting(Session session) {
        ByteString waitsFor = blocker.unchanged();
        return settled || inFlight || place == null || place.session() != session || waitsFor == null
                ? Optional.empty()
                : Optional.of(new BlockerCheck.Waiting(this, waitsFor));
    }

    /** What it waits for was looked at, beside all else. */
    void checked(ByteString waitsFor, RangeResponse found) {
        synchronized (this) {
            Place at = place;
            boolean rests = !settled && !inFlight && waitsFor.equals(blocker.unchanged());
            if (!rests || at == null || at.isBlockedBy(found, createRevision)) {
                return;
            }
            blocker.markChanged();
        }
        advance();
    }

    /** The queue was not entered: because the claim is there already, or the fence has moved, or the lock is not free. */
    private void refused(Place at, TxnResponse answer, boolean onlyIfFree, long fence) {
        var own = Requests.found(answer, 0);
        if (!own.isEmpty() && at.isOwn(own.get(0))) {
            synchronized (this) {
                createRevision = own.get(0).getCreateRevision();
            }
            rest(Next.ADVANCE);
        } else if (!own.isEmpty()) {
            moveAway(at);
            rest(Next.ADVANCE);
        } else if (!at.session().endUnlessFound(Requests.found(answer, 1))) {
            rest(Next.WAIT);
        } else if (at.session().fence() != fence) {
            rest(Next.ADVANCE);
        } else if (!onlyIfFree) {
            rest(Next.ADVANCE_LATER); // somebody meddles with the session's key: its watch will tell
        } else if (at.isRefusedByClaim(answer)) {
            busy();
        } else {
            synchronized (this) {
                queueing = true;
            }
            rest(Next.ADVANCE);
        }
    }

    /** A stranger's key is where the claim's should be. */
    private void moveAway(Place at) {
        long pending;
        synchronized (this) {
            pending = pendingFence;
            pendingFence = 0;
            place = null;
        }
        at.block();
        backend.leave(at, request.name(), 0, pending);
    }

    private void viewed(Place at, View view) {
        synchronized (this) {
            failures = 0;
            createRevision = view.createRevision();
            around |= view.strange();
        }
        if (!view.isPresent() || view.crowded() || view.strange()) {
            rest(Next.ADVANCE);
        } else if (view.blocker() == null) {
            grant(at, view);
        } else if (request.mayWait()) {
            await(view.blocker());
        } else {
            busy();
        }
    }

    private void await(ByteString waitsFor) {
        mustWait = true;
        synchronized (this) {
            if (!settled) {
                blocker.follow(waitsFor); // what was told during the look leads to one more step
            }
        }
        rest(Next.WAIT);
    }

    /** The watch is in place; what it waits for may have gone before. */
    @Override
    public void watching() {
        advance();
    }

    /** What it waits for has gone, or has become shared. */
    @Override
    public void changed(Event event) {
        markChanged();
        advance();
    }

    private void grant(Place at, View view) {
        if (at.session().isEnded()) {
            rest(Next.ADVANCE);
            return;
        }
        long now = backend.context().scheduler().nanoTime();
        if (at.session().validUntilNanos() - now <= 0) {
            // Past its deadline at once, as after a pause: a renewal is on its way.
            rest(Next.ADVANCE_LATER);
            return;
        }
        EtcdGrant granted;
        synchronized (this) {
            granted = withdrawn ? null : new EtcdGrant(backend, at, view, request, pendingFence);
            if (granted != null) {
                settled = true;
                grant = granted;
                blocker.forget();
            }
        }
        if (granted == null) {
            rest(Next.WAIT);
            return;
        }
        backend.forget(this);
        granted.begin();
        outcome.complete(new Outcome.Granted(granted));
    }

    /** Answers busy, and sees to it that nothing is left. */
    private void busy() {
        depart().whenComplete((left, failure) -> {
            if (failure != null) {
                fail(failure); // it may still be there
                rest(Next.WAIT);
                return;
            }
            synchronized (this) {
                createRevision = 0;
                pendingFence = 0;
                settled = true;
            }
            backend.forget(this);
            rest(Next.WAIT);
            outcome.complete(Outcome.Busy.INSTANCE);
        });
    }

    /** A request failed; one to enter, under a fence, may still arrive. */
    private void failed(Place at, Throwable failure, long fence) {
        if (Failures.isLeaseGone(failure)) {
            at.session().signalLost(LossReason.SESSION_ENDED);
            rest(Next.WAIT);
        } else if (Failures.isUnanswered(failure)) {
            synchronized (this) {
                pendingFence = Math.max(pendingFence, fence);
            }
            rest(Next.ADVANCE_LATER);
        } else {
            fail(backend.error(request.name(), "to ask for it", failure));
            rest(Next.WAIT);
        }
    }

    /** Nothing is on its way any more. */
    private void rest(Next next) {
        boolean leave;
        boolean go;
        int tries;
        synchronized (this) {
            inFlight = false;
            leave = withdrawn;
            go = again || next == Next.ADVANCE;
            tries = next == Next.ADVANCE_LATER ? ++failures : 0;
        }
        if (leave) {
            leave();
        } else if (go) {
            advance();
        } else if (tries > 0) {
            backend.later(backend.context().retryBackoff().delay(tries), this::advance);
        }
    }

    /** Ends the claim without an answer from the engine. */
    void fail(Throwable failure) {
        synchronized (this) {
            settled = true;
            blocker.forget();
        }
        backend.forget(this);
        outcome.completeExceptionally(failure);
    }

    @Override
    public CompletionStage<Outcome> outcome() {
        return outcome;
    }

    @Override
    public boolean mustWait() {
        return mustWait;
    }

    @Override
    public CompletionStage<Void> withdraw(Duration blockAtMost) {
        EtcdGrant granted;
        boolean now;
        synchronized (this) {
            withdrawn = true;
            settled = true;
            granted = grant;
            now = !inFlight;
        }
        backend.forget(this);
        if (granted != null) {
            granted.release(blockAtMost).whenComplete((released, failure) -> gone.complete(null));
        } else if (now) {
            leave();
        }
        return gone;
    }

    private void leave() {
        synchronized (this) {
            blocker.forget();
        }
        // Gone either way: the engine said so, or the ttl has passed.
        depart().whenComplete((left, failure) -> gone.complete(null));
    }

    /** Takes the key out of the queue, if there may be one. */
    private CompletableFuture<Boolean> depart() {
        Place at;
        long created;
        long pending;
        synchronized (this) {
            at = place;
            created = createRevision;
            pending = pendingFence;
        }
        return at == null
                ? CompletableFuture.completedFuture(false)
                : backend.leave(at, request.name(), created, pending);
    }
}
