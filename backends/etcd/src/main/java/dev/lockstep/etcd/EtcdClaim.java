package dev.lockstep.etcd;

import dev.lockstep.LossReason;
import dev.lockstep.etcd.Blocker.News;
import dev.lockstep.etcd.ClaimKey.Refusal;
import dev.lockstep.etcd.Keys.Entry;
import dev.lockstep.etcd.proto.Etcd.Event;
import dev.lockstep.etcd.proto.Etcd.KeyValue;
import dev.lockstep.etcd.proto.Etcd.RangeResponse;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.ClaimState;
import dev.lockstep.spi.Outcome;
import dev.lockstep.spi.Retry;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A claim on its way through a lock's queue. Safe for use by many threads. */
final class EtcdClaim implements Claim, ClaimRequests.Claimant, Watches.Watcher {
    /*
     * Overview.
     *
     *   advance:  no key in the present session   -> enter the queue (one transaction)
     *             key there                       -> look at the queue (one transaction that only reads)
     *             a watch has come into place     -> see whether what it waits for is still there (one range)
     *   and then: nothing before it               -> granted
     *             something before it             -> watch that
     *             key vanished, or a new session  -> advance
     *             no answer                       -> advance after a while
     *             it, or a session, is refused    -> failed
     *   watch:    the only one before it has gone -> granted, and verified afterwards
     *             any other change                -> advance
     *
     * A claim takes over if one look has shown all claims before it, and all of them have gone: nothing can come before
     * it, so it holds the lock, unless an operator has deleted its own key. The grant checks that as soon as it has
     * begun.
     *
     * Each renewal checks again the key that the claim waits for, since etcd can drop an event. A request to enter that
     * was not answered may still arrive: with `pendingFence`, the end of the claim keeps it out.
     */
    private enum Next {
        WAIT,
        ADVANCE,
        ADVANCE_LATER
    }

    private final EtcdBackend backend;
    private final ClaimRequest request;
    private final ClaimRequests requests;
    private final CompletableFuture<Outcome> outcome = new CompletableFuture<>();
    private final CompletableFuture<Void> firstAnswer = new CompletableFuture<>();
    private final CompletableFuture<Void> gone = new CompletableFuture<>();

    // Guarded by this.
    private ClaimState state = ClaimState.RESTING;
    private final QueuePosition position;
    private final Blocker blocker;
    private final Retry retry;
    private @Nullable EtcdGrant grant;

    private volatile boolean mustWait;

    EtcdClaim(EtcdBackend backend, ClaimRequest request) {
        this.backend = backend;
        this.request = request;
        this.requests = new ClaimRequests(backend, request, this);
        this.position = new QueuePosition(backend, request);
        this.blocker = new Blocker(backend.watches(), this, ClaimTerms.of(request));
        this.retry = Retry.endless(backend.context());
    }

    /** Does the next step. If one is under way, does another one after it. */
    void advance() {
        Runnable step;
        synchronized (this) {
            boolean rests = state == ClaimState.RESTING;
            state = state.asked();
            if (!rests) {
                return;
            }
            step = nextStep();
        }
        step.run();
    }

    private Runnable nextStep() {
        if (!position.isCurrent()) {
            blocker.forget();
            if (!position.begin()) {
                state = state.rested();
                return this::awaitSession;
            }
        }
        return position.next(requests, blocker.unchanged());
    }

    /** The next session calls the claim again; but etcd may refuse to open one. */
    private void awaitSession() {
        Throwable refusal = backend.sessions().refusal();
        if (refusal != null) {
            fail(backend.error(request.name(), "opening a session", refusal));
        }
        firstAnswer.complete(null);
    }

    /** Enters only if no claim has come since the look. */
    @Override
    public void surveyed(ClaimKey at, long revision, List<KeyValue> queue) {
        Optional<Entry> other = at.queue().firstOther(queue);
        if (other.isPresent()) {
            conflict(other.get());
        } else if (!request.mayWait() && at.queue().refusesAll(queue)) {
            busy();
        } else {
            rest(Next.ADVANCE, () -> position.admittedAt(revision));
        }
    }

    @Override
    public void checked(boolean blocked) {
        if (blocked) {
            rest(Next.WAIT);
        } else {
            rest(Next.ADVANCE, blocker::markChanged);
        }
    }

    /** The one key that it waits for, if it waits in a session and no request is under way. */
    Optional<BlockerCheck.Waiting> waiting(Session session) {
        Blockers waitsFor;
        synchronized (this) {
            waitsFor = blocker.unchanged();
            if (state != ClaimState.RESTING || !position.isIn(session) || waitsFor == null) {
                return Optional.empty();
            }
        }
        if (waitsFor.all()) {
            advance(); // looks by itself; of a semaphore only the first that waits does so
            return Optional.empty();
        }
        return Optional.of(new BlockerCheck.Waiting(this, waitsFor));
    }

    /** The key that it waits for was checked, independently of the claim's own requests. */
    void checked(Blockers waitsFor, RangeResponse found) {
        synchronized (this) {
            boolean rests = state == ClaimState.RESTING && waitsFor == blocker.unchanged();
            ClaimKey at = position.key();
            if (!rests || at == null || at.queue().isBlockedBy(found, waitsFor, position.createRevision())) {
                return;
            }
            blocker.markChanged();
        }
        advance();
    }

    /** The queue was not entered: the claim is there already, the fence has moved, or others are in the way. */
    @Override
    public void refused(ClaimKey at, Refusal why, long fence) {
        Optional<Boolean> refuses = at.queue().refuses(why.some());
        if (!why.own().isEmpty() && at.isOwn(why.own().get(0))) {
            rest(Next.ADVANCE, () -> position.found(why.own().get(0)));
        } else if (!why.own().isEmpty()) {
            locked(position::moveAway).run(); // a stranger's key is where the claim's should be
            rest(Next.ADVANCE);
        } else if (!at.session().endUnlessFound(why.session())) {
            rest(Next.WAIT);
        } else if (at.session().fence() != fence) {
            rest(Next.ADVANCE);
        } else if (why.other().isPresent()) {
            conflict(why.other().get());
        } else if (why.strange() || (!request.mayWait() && refuses.isEmpty())) {
            rest(Next.ADVANCE, position::lookAround);
        } else if (request.mayWait()) {
            // Another claim has come meanwhile; or the session's key was changed, and its watch will report that.
            rest(Next.ADVANCE_LATER, position::forgetAdmission);
        } else if (refuses.get()) {
            busy();
        } else {
            rest(Next.ADVANCE, () -> position.admittedAt(why.revision()));
        }
    }

    /** The name is used in another way. */
    private void conflict(Entry other) {
        fail(ClaimTerms.of(request).conflict(other));
        rest(Next.WAIT);
    }

    @Override
    public void viewed(ClaimKey at, View view) {
        synchronized (this) {
            retry.succeeded();
            position.viewed(view);
        }
        if (!view.isPresent() || !view.isCertain()) {
            rest(Next.ADVANCE);
        } else if (view.blockers().isEmpty()) {
            grant(at, view);
        } else if (request.mayWait()) {
            await(view.blockers().get());
        } else {
            busy();
        }
    }

    private void await(Blockers waitsFor) {
        if (!mustWait) {
            mustWait = true;
            request.listener().waiting();
        }
        synchronized (this) {
            if (state.isAsking()) {
                blocker.follow(waitsFor); // a change during the look leads to one more step
            }
        }
        rest(Next.WAIT);
    }

    /** The watch is in place; the key that it waits for may have gone before. */
    @Override
    public void watching() {
        advance();
    }

    /** A key that it waits for has gone, or was written again. */
    @Override
    public void changed(Event event) {
        ClaimKey takes = null;
        long created;
        synchronized (this) {
            News news = blocker.heard(event);
            if (news == News.NONE || (news == News.ONE_LESS && state == ClaimState.RESTING)) {
                return;
            }
            blocker.markChanged();
            created = position.createRevision();
            if (news == News.FREE && state == ClaimState.RESTING && created != 0) {
                state = ClaimState.ASKING; // the event counts as an answer
                takes = position.key();
            }
        }
        if (takes != null) {
            grant(takes, View.shouldHold(event.getKv().getModRevision(), created));
        } else {
            advance();
        }
    }

    private void grant(ClaimKey at, View view) {
        if (at.session().isEnded()) {
            rest(Next.ADVANCE);
            return;
        }
        if (at.session().validUntilNanos() - backend.context().scheduler().nanoTime() <= 0) {
            rest(Next.ADVANCE_LATER); // as after a pause: a renewal is on its way
            return;
        }
        EtcdGrant granted;
        synchronized (this) {
            granted = state.isAsking() ? new EtcdGrant(backend, at, view, request, position.pendingFence()) : null;
            if (granted != null) {
                blocker.forget();
            }
            grant = granted;
            state = state.settled();
        }
        if (granted == null) {
            rest(Next.WAIT);
            return;
        }
        backend.forget(this);
        granted.begin();
        outcome.complete(new Outcome.Granted(granted));
        firstAnswer.complete(null);
    }

    /** Answers busy, and makes sure that no key is left. */
    private void busy() {
        depart().whenComplete((left, failure) -> {
            if (failure != null) {
                fail(failure); // it may still be there
                rest(Next.WAIT);
                return;
            }
            synchronized (this) {
                position.left();
                state = state.settled();
            }
            backend.forget(this);
            rest(Next.WAIT);
            outcome.complete(Outcome.Busy.INSTANCE);
            firstAnswer.complete(null);
        });
    }

    /** A request to enter, under a fence, may still arrive. */
    @Override
    public void failed(ClaimKey at, Throwable failure, long fence) {
        if (Failure.isLeaseGone(failure)) {
            at.session().signalLost(LossReason.SESSION_ENDED);
            rest(Next.WAIT);
        } else if (Failure.isUnanswered(failure)) {
            rest(Next.ADVANCE_LATER, () -> position.unanswered(fence));
        } else {
            fail(backend.error(request.name(), "to ask for it", failure));
            rest(Next.WAIT);
        }
    }

    private void rest(Next next) {
        rest(next, () -> {});
    }

    /** The request that was under way has ended with a result. */
    private void rest(Next next, Runnable known) {
        ClaimState before;
        synchronized (this) {
            known.run();
            before = state;
            state = before.rested();
            if (before == ClaimState.ASKING && next == Next.ADVANCE_LATER) {
                retry.later(this::advance);
            }
        }
        if (before == ClaimState.LEAVING) {
            leave();
        } else if (before == ClaimState.ASKING_AGAIN || next == Next.ADVANCE) {
            advance();
        } else if (before.isAsking()) {
            firstAnswer.complete(null);
        }
    }

    /** Ends the claim without an answer from the engine. */
    void fail(Throwable failure) {
        synchronized (this) {
            state = state.settled();
            blocker.forget();
        }
        backend.forget(this);
        outcome.completeExceptionally(failure);
        firstAnswer.complete(null);
    }

    /** Waits in the calling thread until the claim has its answer, must wait for others, or tries again later. */
    void awaitFirstAnswer(Duration atMost) {
        Inline.await(firstAnswer, atMost);
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
        boolean leaves;
        synchronized (this) {
            granted = grant;
            state = state.withdrawn();
            leaves = state == ClaimState.WITHDRAWN;
        }
        backend.forget(this);
        if (granted != null) {
            granted.release(blockAtMost).whenComplete((released, failure) -> gone.complete(null));
        } else if (leaves) {
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
        return locked(position::departure).get();
    }

    private synchronized <T> T locked(Supplier<T> what) {
        return what.get();
    }
}
