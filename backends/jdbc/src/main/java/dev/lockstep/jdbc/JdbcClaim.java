package dev.lockstep.jdbc;

import dev.lockstep.spi.Claim;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.ClaimState;
import dev.lockstep.spi.Limits;
import dev.lockstep.spi.Outcome;
import dev.lockstep.spi.Retry;
import java.sql.SQLException;
import java.time.Duration;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Asks for a lock until it is granted, busy, or withdrawn. One try at a time; a trigger that comes meanwhile (a hint, a
 * poll, a new session) makes another try follow. Safe for use by many threads.
 */
final class JdbcClaim implements Claim {
    private final JdbcBackend backend;
    private final ClaimRequest request;
    private final Ask ask;
    private final CompletableFuture<Outcome> outcome = new CompletableFuture<>();
    private final CompletableFuture<Void> gone = new CompletableFuture<>();
    private final AtomicBoolean queued = new AtomicBoolean();

    // Guarded by this. The monitor is never held during a request.
    private ClaimState state = ClaimState.RESTING;
    private @Nullable Session known; // the session in which the database may know the claim
    private boolean uncertain; // a request may still be on its way
    private final Retry retry;
    private long refusedSinceNanos;
    private @Nullable JdbcGrant grant;

    private volatile boolean mustWait;
    private volatile Answer.Place place = Answer.Place.UNKNOWN;

    JdbcClaim(JdbcBackend backend, ClaimRequest request, Ask ask) {
        this.backend = backend;
        this.request = request;
        this.ask = ask;
        this.retry = Retry.endless(backend.context());
    }

    Ask ask() {
        return ask;
    }

    String name() {
        return request.name();
    }

    /** Its last known place in the queue. */
    Answer.Place place() {
        return place;
    }

    /** Whether another local claim for the name, or a hint, should make it try. */
    synchronized boolean isWaiting() {
        return mustWait && state.isOpen();
    }

    void start() {
        tryNow(request.blockAtMost());
    }

    /** Tries again, after the request that is under way. */
    void tryAgain() {
        tryNow(Duration.ZERO);
    }

    private void tryNow(Duration blockAtMost) {
        synchronized (this) {
            boolean rests = state == ClaimState.RESTING;
            state = state.asked();
            if (!rests) {
                return;
            }
        }
        backend.requests().run(blockAtMost, this::attempt, this::fail);
    }

    private void attempt() {
        ClaimState before;
        do {
            attemptOnce();
            synchronized (this) {
                before = state;
                state = before == ClaimState.ASKING_AGAIN ? ClaimState.ASKING : before.rested();
            }
        } while (before == ClaimState.ASKING_AGAIN);
        if (before == ClaimState.LEAVING) {
            leave();
        }
    }

    private void attemptOnce() {
        Session session = backend.sessions().current();
        if (!backend.sessions().isUsable(session)) {
            Sessions.Trouble trouble = backend.sessions().trouble();
            if (trouble != null) {
                long asked = request.sentNanos();
                long since = asked + Math.max(trouble.sinceNanos() - asked, 0);
                endsWith(trouble.failure(), since, backend.requests().longestDelay());
            }
            return; // tried again when there is a session, and after another failed attempt to open one
        }
        synchronized (this) {
            if (!state.isOpen()) {
                return;
            }
            known = session;
        }
        try {
            answered(
                    session, backend.requests().call(link -> backend.store().acquire(link, ask, session.id(), queued)));
        } catch (SQLException e) {
            failed(e);
        } catch (RuntimeException e) {
            backend.reconciler().left(ask);
            settle();
            outcome.completeExceptionally(e);
        }
    }

    private void answered(Session session, Answer answer) {
        switch (answer.kind()) {
            case GRANTED -> granted(session, answer);
            case WAITING -> {
                place = answer.place();
                boolean news = !mustWait;
                synchronized (this) {
                    mustWait = true;
                    retry.succeeded();
                    refusedSinceNanos = 0;
                }
                if (news) {
                    request.listener().waiting();
                }
                backend.waiters().add(this);
            }
            case BUSY -> {
                leftNothing();
                if (settle()) {
                    outcome.complete(Outcome.Busy.INSTANCE);
                }
            }
            case REFUSED -> {
                leftNothing();
                if (settle()) {
                    OptionalInt limit = answer.limit() > 0 ? OptionalInt.of(answer.limit()) : OptionalInt.empty();
                    outcome.completeExceptionally(Limits.conflict(request.name(), request.limit(), limit));
                }
            }
        }
    }

    private synchronized void leftNothing() {
        known = uncertain ? known : null;
    }

    private void granted(Session session, Answer answer) {
        JdbcGrant made;
        synchronized (this) {
            made = new JdbcGrant(backend, session, request, ask, answer, uncertain);
            grant = made;
        }
        if (answer.wanted()) {
            made.signalWanted();
        }
        backend.register(made);
        if (settle()) {
            outcome.complete(new Outcome.Granted(made));
        }
        if (ask.shared()) {
            backend.waiters().changed(ask.key()); // others may join it
        }
    }

    private void failed(SQLException e) {
        Failure failure = backend.requests().failure(e);
        long delay;
        long since;
        synchronized (this) {
            uncertain |= failure == Failure.UNREACHABLE;
            delay = retry.delayNanos();
            if (failure != Failure.REFUSED) {
                refusedSinceNanos = 0;
            } else if (refusedSinceNanos == 0) {
                refusedSinceNanos = backend.requests().nanoTime() | 1;
            }
            since = refusedSinceNanos;
            // While an interrupt is pending, this thread cannot wait for a connection; another one does.
            boolean atOnce = Thread.currentThread().isInterrupted() && retry.failures() == 1;
            delay = atOnce ? 0 : delay;
        }
        if (!endsWith(e, since, delay)) {
            backend.log().debug("Lock '{}': the request for it failed; retrying", request.name(), e);
            backend.requests().later(delay, this::tryAgain);
        }
    }

    /**
     * Ends the claim with a failure, if another try after a delay cannot help.
     *
     * @param since the time of the first refusal, if all later failures were refusals, too
     */
    private boolean endsWith(SQLException e, long since, long delay) {
        Failure failure = backend.requests().failure(e);
        // Reported before the core gives up, which knows nothing of a refusal.
        boolean tooLong = backend.requests().nanoTime() + delay - since
                >= backend.requests().requestTimeoutNanos() / 4 * 3;
        if (failure != Failure.WRONG && !(failure == Failure.REFUSED && tooLong)) {
            return false;
        }
        backend.reconciler().left(ask); // a request that was not answered may have been carried out
        if (settle()) {
            outcome.completeExceptionally(backend.requests().exception(request.name(), "the request for it", e));
        }
        return true;
    }

    /** Ends the tries; false if the claim was withdrawn before. */
    private boolean settle() {
        backend.waiters().remove(this);
        backend.forget(this);
        synchronized (this) {
            state = state.settled();
            return state == ClaimState.SETTLED;
        }
    }

    /** The client was closed. */
    void fail() {
        settle();
        outcome.completeExceptionally(backend.context().closedFailure(request.name()));
        gone.complete(null); // it went with the session
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
        boolean leaves;
        synchronized (this) {
            backend.reconciler().leaves(ask);
            state = state.withdrawn(); // the try that is under way makes it leave when it has ended
            leaves = state == ClaimState.WITHDRAWN;
        }
        backend.waiters().remove(this);
        backend.forget(this);
        if (leaves) {
            leave();
        }
        return gone;
    }

    /** Makes the database forget the claim. Called while no try is under way. */
    private void leave() {
        Session session;
        JdbcGrant given;
        boolean maybeLate;
        synchronized (this) {
            session = known;
            given = grant;
            maybeLate = uncertain;
        }
        if (session == null) {
            backend.reconciler().left(ask);
            gone.complete(null);
            return;
        }
        if (given != null) {
            backend.forget(given);
        }
        new Release(
                        backend,
                        session,
                        request.name(),
                        "withdrawal",
                        (link, repeated) -> backend.store().queue().leave(link, ask.key(), ask.claim()))
                .run(Duration.ZERO)
                .whenComplete((held, failure) -> {
                    backend.reconciler().left(ask);
                    if (maybeLate) {
                        backend.suspect(ask);
                    }
                    gone.complete(null); // by answer, or because the ttl has passed
                });
    }
}
