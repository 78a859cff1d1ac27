package dev.lockstep.etcd;

import com.google.protobuf.ByteString;
import dev.lockstep.LockMode;
import dev.lockstep.LossReason;
import dev.lockstep.etcd.Place.View;
import dev.lockstep.etcd.proto.Etcd.Event;
import dev.lockstep.etcd.proto.Etcd.TxnResponse;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.Outcome;
import java.time.Duration;
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
     * One request is on its way at a time; whatever happens meanwhile leads to one more look. A claim whose request to
     * enter was not answered may still enter later, even after it was withdrawn: `unanswered` makes whoever ends the
     * claim leave for good.
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
    private boolean unanswered;
    private boolean inFlight;
    private boolean again;
    private boolean settled; // answered or withdrawn
    private boolean withdrawn;
    private boolean queueing; // a stranger's key is in the queue, so that it must be entered to be judged
    private boolean around; // the whole queue must be looked at
    private int failures;
    private @Nullable EtcdGrant grant;
    private final Blocker blocker;

    EtcdClaim(EtcdBackend backend, ClaimRequest request) {
        this.backend = backend;
        this.request = request;
        this.queueing = request.mayWait();
        this.blocker = new Blocker(backend.watches(), this);
    }

    /** Does the next step, unless one is under way: then once more after it. */
    void advance() {
        Throwable refusal = backend.sessions().refusal();
        if (refusal != null) {
            refusedSession(refusal);
            return;
        }
        Place at;
        long created;
        boolean queue;
        boolean everything;
        ByteString waitsFor;
        synchronized (this) {
            Session session = backend.sessions().current();
            if (settled || session == null) {
                return; // with the next session, or its refusal, the claim is called again
            }
            if (inFlight) {
                again = true;
                return;
            }
            if (place == null || place.session() != session) {
                blocker.forget();
                place = new Place(backend.keys(), session, request.name(), request.mode(), request.claimId());
                createRevision = 0;
                unanswered = false; // what was sent with the last session's lease dies with it
            }
            inFlight = true;
            again = false;
            at = place;
            created = createRevision;
            queue = queueing;
            everything = around;
            waitsFor = blocker.unchanged();
        }
        if (created == 0) {
            enter(at, !queue);
        } else if (waitsFor != null) {
            check(at, waitsFor);
        } else {
            look(at, created, everything);
        }
    }

    /** There is no session to ask in, and etcd does not want one. */
    private void refusedSession(Throwable refusal) {
        synchronized (this) {
            if (settled) {
                return;
            }
        }
        fail(backend.error(request.name(), "opening a session", refusal));
    }

    private void enter(Place at, boolean onlyIfFree) {
        long fence = at.session().fence();
        backend.wire()
                .call(Rpc.TXN, at.enter(Holders.write(request.holder()), onlyIfFree, fence))
                .whenComplete((answer, failure) -> {
                    if (failure != null) {
                        failed(at, failure, true);
                    } else if (answer.getSucceeded()) {
                        viewed(at, at.entered(answer));
                    } else {
                        refused(at, answer, onlyIfFree, fence);
                    }
                });
    }

    private void look(Place at, long created, boolean everything) {
        String clientId = backend.context().clientId();
        boolean shared = request.mode() == LockMode.SHARED;
        backend.wire()
                .call(Rpc.TXN, everything ? at.lookAround() : at.look(created))
                .whenComplete((answer, failure) -> {
                    if (failure != null) {
                        failed(at, failure, false);
                    } else {
                        viewed(at, everything ? at.seenAround(answer, clientId) : at.seen(answer, shared, clientId));
                    }
                });
    }

    private void check(Place at, ByteString waitsFor) {
        backend.wire().call(Rpc.RANGE, Requests.look(waitsFor).build()).whenComplete((found, failure) -> {
            if (failure != null) {
                failed(at, failure, false);
            } else if (at.isBlockedBy(found)) {
                rest(Next.WAIT);
            } else {
                synchronized (this) {
                    blocker.markChanged();
                }
                rest(Next.ADVANCE);
            }
        });
    }

    /** The queue was not entered: because the claim is there already, or the fence has moved, or the lock is not free. */
    private void refused(Place at, TxnResponse answer, boolean onlyIfFree, long fence) {
        var own = Requests.found(answer, 0);
        if (!own.isEmpty()) {
            synchronized (this) {
                createRevision = own.get(0).getCreateRevision();
            }
            rest(Next.ADVANCE);
        } else if (!Sessions.isAlive(at.session(), Requests.found(answer, 1))) {
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
        synchronized (this) {
            blocker.markChanged();
        }
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
            granted = withdrawn ? null : new EtcdGrant(backend, at, view, request, unanswered);
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
                unanswered = false;
                settled = true;
            }
            backend.forget(this);
            rest(Next.WAIT);
            outcome.complete(Outcome.Busy.INSTANCE);
        });
    }

    private void failed(Place at, Throwable failure, boolean entering) {
        if (Failures.isLeaseGone(failure)) {
            at.session().signalLost(LossReason.SESSION_ENDED);
            rest(Next.WAIT);
        } else if (Failures.isUnanswered(failure)) {
            synchronized (this) {
                unanswered |= entering;
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
        boolean nothing;
        boolean forGood;
        synchronized (this) {
            at = place;
            nothing = createRevision == 0 && !unanswered;
            forGood = unanswered;
        }
        return at == null || nothing
                ? CompletableFuture.completedFuture(false)
                : backend.leave(at, request.name(), forGood);
    }
}
