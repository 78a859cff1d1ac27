package dev.lockstep.redis;

import dev.lockstep.LockUnavailableException;
import dev.lockstep.LockstepException;
import dev.lockstep.LossReason;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.Outcome;
import dev.lockstep.spi.Renewer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** One claim at several servers, until what it got is given back. Safe for use by many threads. */
final class RedlockClaim implements Claim {
    /*
     * Overview. A claim has a seat at each server. It asks all of them in a round; a round that is won is the grant. After
     * one that is lost it gives back what it got, waits in the queue of each server, and tries again when its patience is
     * at an end.
     *
     *   ASKING ──▶ WAITING ──▶ ASKING …        ASKING: a round is on its way.
     *      └──────────┴──────▶ SETTLED         SETTLED: granted, busy, failed or withdrawn.
     *
     * Servers are no more than hints about each other, so they never grant the lock to a waiter by themselves, as a single
     * server does.
     */
    /** After so many rounds a claim that may not wait takes a split for an answer. */
    private static final int SPLITS_BORNE = 6;

    private enum State {
        ASKING,
        WAITING,
        SETTLED
    }

    private final RedlockBackend backend;
    private final ClaimRequest request;
    private final LockKeys keys;
    private final byte[] info;
    private final List<Seat> seats = new ArrayList<>();
    private final CompletableFuture<Outcome> outcome = new CompletableFuture<>();

    // Guarded by this.
    private final Patience patience;
    private State state = State.ASKING;
    private @Nullable Round round;
    private int rounds;
    private boolean wanted;
    private boolean leaving;
    private final BitSet missing = new BitSet();
    private final Refusals refusals;
    private @Nullable RedlockGrant grant;
    private @Nullable CompletableFuture<Void> withdrawal;

    private volatile boolean mustWait;

    RedlockClaim(RedlockBackend backend, ClaimRequest request, LockKeys keys) {
        this.backend = backend;
        this.request = request;
        this.keys = keys;
        this.patience = new Patience(backend, this::ask);
        this.refusals = new Refusals(backend.context().requestTimeout());
        this.info = Dialect.bytes(Infos.encode(request.holder()));
        backend.members().forEach(member -> seats.add(new Seat(this, member)));
    }

    RedlockBackend backend() {
        return backend;
    }

    ClaimRequest request() {
        return request;
    }

    LockKeys keys() {
        return keys;
    }

    /** Who asks, for people. */
    byte[] info() {
        return info;
    }

    Seat seat(int index) {
        return seats.get(index);
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
        if (state == State.SETTLED || (round != null && !round.isOver())) {
            return;
        }
        patience.begin();
        state = State.ASKING;
        boolean first = rounds++ == 0;
        Round begun = new Round(
                this,
                seats.size(),
                first ? request.sentNanos() : backend.scheduler().nanoTime());
        round = begun;
        seats.forEach(seat -> seat.ask(begun, request.mayWait(), !first || request.mayBarge()));
    }

    /** A round is over. Called with the monitor held; what it returns is run without it. */
    Runnable decided(Round done) {
        if (state == State.SETTLED) {
            return () -> {};
        }
        long validUntil = Renewer.deadline(done.sentNanos(), backend.ttl());
        if (done.isWon() && validUntil - backend.scheduler().nanoTime() > 0) {
            return granted(done, validUntil);
        }
        Failure mortal = done.finalFailure();
        if (mortal != null) {
            state = State.SETTLED;
            return () -> fail(mortal.asLockstepException(request.name(), "acquire"));
        }
        Failure lasting = lastingFailure(done);
        if (lasting != null) {
            state = State.SETTLED;
            return () -> fail(tooFew(lasting));
        }
        if (!request.mayWait() && isBusy(done)) {
            state = State.SETTLED;
            return () -> {
                leaveAll();
                backend.forget(this);
                outcome.complete(Outcome.Busy.INSTANCE);
            };
        }
        if (!request.mayWait() && done.young() > 0 && done.takenByOthers() == 0) {
            state = State.SETTLED;
            return () -> fail(tooYoung());
        }
        for (int i = 0; i < seats.size(); i++) {
            if (done.has(i)) {
                seats.get(i).giveWay(request.mayWait());
            }
        }
        mustWait |= isBusy(done);
        state = State.WAITING;
        patience.await(done);
        return () -> {};
    }

    /** What has kept rounds from a majority for too long, though the servers, or enough of them, say something. */
    private @Nullable Failure lastingFailure(Round done) {
        if (done.isAnsweredByMajority()) {
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

    private boolean isBusy(Round done) {
        return done.isHeldByAnother()
                || (rounds >= SPLITS_BORNE && done.takenByOthers() > 0 && done.isAnsweredByMajority());
    }

    private LockUnavailableException tooYoung() {
        return new LockUnavailableException(
                request.name(),
                "Lock '" + request.name() + "': too few servers of " + backend + " have a vote. A server that was"
                        + " started anew has none until the longest ttl of any client has passed, here "
                        + Duration.ofMillis(backend.longestMillis())
                        + "; one that is not fit to have locks has none either, and the log says why. Try again later.");
    }

    private Runnable granted(Round done, long validUntilNanos) {
        state = State.SETTLED;
        RedlockGrant made = new RedlockGrant(this, done.token(), validUntilNanos);
        grant = made;
        boolean others = done.isWanted() || wanted;
        return () -> {
            if (others) {
                made.signalWanted(); // before the grant is told, so that it is wanted from the beginning
            }
            backend.renewer().register(made);
            outcome.complete(new Outcome.Granted(made));
            if (isLeaving()) {
                backend.renewer().unregister(made); // the withdrawal may have come before the registration
            }
        };
    }

    private synchronized boolean isLeaving() {
        return leaving;
    }

    private void fail(LockstepException failure) {
        backend.forget(this);
        outcome.completeExceptionally(failure);
    }

    /** A server gave itself to a round that was lost meanwhile. Called with the monitor held. */
    void tooLate(Round done, Seat seat) {
        if (done == round && state == State.WAITING) {
            seat.giveWay(request.mayWait());
        }
    }

    // ---------------------------------------------------------------- waiting

    /** A server says that the lock is free there. */
    synchronized void pushedHint(Seat seat) {
        if (grant != null && !leaving) {
            strengthen(seat);
            return;
        }
        patience.hint(seat.member().index(), state == State.WAITING);
    }

    /** Takes a server too that was another's, or that has lost its data, when the lock was won. */
    synchronized void strengthen(Seat seat) {
        Round done = round;
        if (done != null && !leaving && isValid()) {
            seat.ask(done, false, true);
        }
    }

    /** Another client waits for what this claim got, or is about to be told that it got. */
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
    void pushedRevocation(Seat seat) {
        RedlockGrant known;
        synchronized (this) {
            seat.lost();
            missing.set(seat.member().index());
            known = missing.cardinality() > seats.size() - backend.majority() ? grant : null;
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

    // ---------------------------------------------------------------- giving back

    synchronized boolean isValid() {
        return grant != null
                && !grant.isLost()
                && grant.validUntilNanos() - backend.scheduler().nanoTime() > 0;
    }

    /** What it has is renewed no more, and what servers tell it is not for it any more. */
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

    /** Gives back what the claim has anywhere. */
    private List<CompletableFuture<Boolean>> leaveAll() {
        synchronized (this) {
            leaving = true;
            state = State.SETTLED;
            patience.end();
            if (round != null) {
                round.cancel();
            }
            return seats.stream().map(Seat::leave).toList();
        }
    }

    @Override
    public CompletionStage<Void> withdraw(Duration blockAtMost) {
        CompletableFuture<Void> gone = new CompletableFuture<>();
        synchronized (this) {
            withdrawal = gone;
        }
        retire();
        // Gone when a majority knows it no more, or its ttl has passed: the others alone are no lock.
        Quorum.of(leaveAll(), backend.majority()).whenComplete((done, failure) -> gone.complete(null));
        return gone;
    }

    CompletableFuture<Boolean> release() {
        retire();
        return Quorum.vote(leaveAll(), backend.majority(), this::isValid, backend.scheduler());
    }

    /** The client was closed. */
    void close(LockstepException closed) {
        CompletableFuture<Void> asked;
        synchronized (this) {
            state = State.SETTLED;
            patience.end();
            asked = withdrawal;
        }
        outcome.completeExceptionally(closed);
        if (asked != null) {
            asked.complete(null);
        }
    }
}
