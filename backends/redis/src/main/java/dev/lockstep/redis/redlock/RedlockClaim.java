package dev.lockstep.redis.redlock;

import dev.lockstep.LockUnavailableException;
import dev.lockstep.LockstepException;
import dev.lockstep.LossReason;
import dev.lockstep.redis.internal.Bytes;
import dev.lockstep.redis.internal.Failure;
import dev.lockstep.redis.internal.Keys;
import dev.lockstep.redis.internal.Refusals;
import dev.lockstep.redis.internal.StoredHolder;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** One claim at several servers, until it is released. Safe for use by many threads. */
final class RedlockClaim implements Claim {
    /*
     * Overview. A claim has a MemberClaim at each server. It asks all of them in a round; a round that is won is the grant.
     * After one that is lost it releases what it got, waits in the queue of each server, and tries again when NextRound
     * says so.
     *
     * Servers are no more than hints about each other, so they never grant the lock to a waiter by themselves, as a single
     * server does.
     */
    /** After so many rounds a claim that may not wait treats a split vote as busy. */
    private static final int SPLITS_BEFORE_BUSY = 6;

    private enum State {
        /** A round is on its way, or about to begin. */
        ASKING,
        /** A round was lost, and the next is scheduled. */
        WAITING,
        /** A round was won. */
        HELD,
        /** Failed, or the client was closed. */
        ENDED,
        /** Busy, released or withdrawn: it leaves all servers. */
        LEAVING
    }

    private final RedlockBackend backend;
    private final ClaimRequest request;
    private final Keys keys;
    private final byte[] info;
    private final List<MemberClaim> memberClaims = new ArrayList<>();
    private final CompletableFuture<Outcome> outcome = new CompletableFuture<>();
    private final CompletableFuture<Void> gone = new CompletableFuture<>();

    // Guarded by this.
    private final NextRound nextRound;
    private State state = State.ASKING;
    private @Nullable Round round;
    private int rounds;
    private boolean wanted;
    private final BitSet missing = new BitSet();
    private final Refusals refusals;
    private @Nullable RedlockGrant grant;

    private volatile boolean mustWait;

    RedlockClaim(RedlockBackend backend, ClaimRequest request, Keys keys) {
        this.backend = backend;
        this.request = request;
        this.keys = keys;
        this.nextRound = new NextRound(backend, this::ask);
        this.refusals = new Refusals(backend.context());
        this.info = Bytes.bytes(StoredHolder.encode(request.holder()));
        backend.members().forEach(member -> memberClaims.add(new MemberClaim(this, member)));
    }

    RedlockBackend backend() {
        return backend;
    }

    ClaimRequest request() {
        return request;
    }

    Keys keys() {
        return keys;
    }

    /** The owner of the claim, as text for people. */
    byte[] info() {
        return info;
    }

    MemberClaim memberClaim(int index) {
        return memberClaims.get(index);
    }

    @Override
    public CompletionStage<Outcome> outcome() {
        return outcome;
    }

    @Override
    public boolean mustWait() {
        return mustWait;
    }

    // ---------------------------------------------------------------- asking

    /** Asks all servers, for the first time or again. */
    synchronized void ask() {
        if (!isOpen() || (round != null && !round.isOver())) {
            return;
        }
        nextRound.begin();
        state = State.ASKING;
        boolean first = rounds++ == 0;
        Round begun = new Round(
                this,
                memberClaims.size(),
                first ? request.sentNanos() : backend.scheduler().nanoTime());
        round = begun;
        memberClaims.forEach(at -> at.ask(begun, request.mayWait(), !first || request.mayBarge()));
    }

    /** A round is over. Called with the monitor held; what it returns is run without it. */
    Runnable decided(Round done) {
        if (!isOpen()) {
            return () -> {};
        }
        Ballot ballot = done.ballot();
        long validUntil = Ballot.validUntilNanos(done.sentNanos(), backend.ttl());
        if (done.isWon() && validUntil - backend.scheduler().nanoTime() > 0) {
            return granted(done, validUntil);
        }
        Failure finalFailure = done.finalFailure();
        if (finalFailure != null) {
            return failed(finalFailure.asLockstepException(request.name(), "acquire"));
        }
        Failure lasting = lastingFailure(done, ballot);
        if (lasting != null) {
            return failed(tooFew(lasting));
        }
        if (!request.mayWait() && isBusy(ballot)) {
            leaveAll();
            return () -> {
                backend.forget(this);
                outcome.complete(Outcome.Busy.INSTANCE);
            };
        }
        if (!request.mayWait() && ballot.young() > 0 && ballot.takenByOthers() == 0) {
            return leftAndFailed(tooYoung());
        }
        for (int i = 0; i < memberClaims.size(); i++) {
            if (done.has(i)) {
                memberClaims.get(i).giveWay(request.mayWait());
            }
        }
        boolean news = !mustWait && isBusy(ballot);
        mustWait |= news;
        state = State.WAITING;
        nextRound.await(ballot, request.claimId());
        return news ? request.listener()::waiting : () -> {};
    }

    /** The failure that has kept rounds from a majority for too long, though enough servers answer other requests. */
    private @Nullable Failure lastingFailure(Round done, Ballot ballot) {
        if (ballot.isAnsweredByMajority()) {
            refusals.end();
            return null;
        }
        long now = backend.scheduler().nanoTime();
        return refusals.lastTooLongBesideOthers(backend.lastContactNanos(), done.sentNanos(), now)
                ? done.failure()
                : null;
    }

    private LockUnavailableException tooFew(Failure failure) {
        LockstepException reason = failure.asLockstepException(request.name(), "acquire");
        return new LockUnavailableException(
                request.name(),
                reason.getMessage() + " Too few of the " + backend.size() + " servers can be used without it.",
                reason);
    }

    private boolean isBusy(Ballot ballot) {
        return ballot.isHeldByAnother(request.claimId())
                || (rounds >= SPLITS_BEFORE_BUSY && ballot.takenByOthers() > 0 && ballot.isAnsweredByMajority());
    }

    private LockUnavailableException tooYoung() {
        return new LockUnavailableException(
                request.name(),
                "Lock '" + request.name() + "': too few servers of " + backend + " have a vote. A server that was"
                        + " restarted has none until the longest ttl of any client has passed, here "
                        + Duration.ofMillis(backend.longestMillis())
                        + "; a server that failed its checks has none either; the log says why. Try again later.");
    }

    private Runnable granted(Round done, long validUntilNanos) {
        state = State.HELD;
        RedlockGrant made = new RedlockGrant(this, done.token(), validUntilNanos);
        grant = made;
        boolean others = done.isWanted() || wanted;
        return () -> {
            if (others) {
                made.signalWanted(); // before the grant is passed on, so that it is wanted from the beginning
            }
            backend.renewer().register(made);
            outcome.complete(new Outcome.Granted(made));
            if (isLeaving()) {
                backend.renewer().unregister(made); // the withdrawal may have come before the registration
            }
        };
    }

    /** Whether it may still be granted. */
    private boolean isOpen() {
        return state == State.ASKING || state == State.WAITING;
    }

    private synchronized boolean isLeaving() {
        return state == State.LEAVING;
    }

    private Runnable failed(LockstepException failure) {
        state = State.ENDED;
        return () -> {
            backend.forget(this);
            outcome.completeExceptionally(failure);
        };
    }

    /** Fails once the servers are free again: the next call must not take this claim for a holder. */
    private Runnable leftAndFailed(LockstepException failure) {
        List<CompletableFuture<Boolean>> left = leaveAll();
        return () -> {
            backend.forget(this);
            Quorum.of(left, backend.majority()).whenComplete((done, unsure) -> outcome.completeExceptionally(failure));
        };
    }

    /** A server gave itself to a round that was lost meanwhile. Called with the monitor held. */
    void tooLate(Round done, MemberClaim at) {
        if (done == round && state == State.WAITING) {
            at.giveWay(request.mayWait());
        }
    }

    // ---------------------------------------------------------------- waiting

    /** A server says that the lock is free there. */
    synchronized void pushedHint(MemberClaim at) {
        if (state == State.HELD) {
            strengthen(at);
            return;
        }
        nextRound.hint(at.member().index(), state == State.WAITING);
    }

    /** Takes a server too that was another's, or that has lost its data, when the lock was won. */
    synchronized void strengthen(MemberClaim at) {
        Round done = round;
        if (done != null && state == State.HELD && isValid()) {
            at.ask(done, false, true);
        }
    }

    /** Another client waits for what this claim got, or is about to get. */
    void pushedWanted() {
        RedlockGrant known;
        synchronized (this) {
            wanted = true;
            known = grant;
        }
        if (known != null) {
            known.signalWanted();
        }
    }

    /** A server has taken away what the claim had there; if too few are left, the lock is lost. */
    void pushedRevocation(MemberClaim at) {
        RedlockGrant known;
        synchronized (this) {
            at.lost();
            missing.set(at.member().index());
            known = missing.cardinality() > memberClaims.size() - backend.majority() ? grant : null;
        }
        if (known != null) {
            backend.renewer().unregister(known);
            known.signalLost(LossReason.REVOKED);
        }
    }

    /** A server has prolonged what the claim has there. */
    synchronized void renewed(int index) {
        missing.clear(index);
    }

    // ---------------------------------------------------------------- releasing

    synchronized boolean isValid() {
        return grant != null && grant.isValid(backend.scheduler().nanoTime());
    }

    /** Its holds are not renewed any more, and messages from servers are ignored. */
    private void retire() {
        RedlockGrant known;
        synchronized (this) {
            known = grant;
        }
        if (known != null) {
            backend.renewer().unregister(known);
        }
        backend.forget(this);
    }

    /** Releases what the claim has on any server. */
    private List<CompletableFuture<Boolean>> leaveAll() {
        synchronized (this) {
            state = State.LEAVING;
            nextRound.end();
            if (round != null) {
                round.cancel();
            }
            return memberClaims.stream().map(MemberClaim::leave).toList();
        }
    }

    @Override
    public CompletionStage<Void> withdraw(Duration blockAtMost) {
        retire();
        // Gone when a majority no longer has it, or its ttl has passed: a minority is no lock.
        Quorum.of(leaveAll(), backend.majority()).whenComplete((done, failure) -> gone.complete(null));
        return gone;
    }

    CompletableFuture<Boolean> release() {
        retire();
        return Quorum.vote(leaveAll(), backend.majority(), this::isValid, backend.scheduler());
    }

    /** The client was closed. */
    void close(LockstepException closed) {
        synchronized (this) {
            state = State.ENDED;
            nextRound.end();
        }
        outcome.completeExceptionally(closed);
        gone.complete(null);
    }
}
