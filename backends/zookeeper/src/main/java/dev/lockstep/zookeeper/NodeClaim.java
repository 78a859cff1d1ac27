package dev.lockstep.zookeeper;

import dev.lockstep.spi.Claim;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.Outcome;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * A claim, from its submission to its answer or withdrawal. It makes one attempt in each session, and another in the
 * same one if somebody deletes its node while it waits. Safe for use by many threads.
 */
final class NodeClaim implements Claim {
    private final ZooKeeperBackend backend;
    private final ClaimRequest request;
    private final CompletableFuture<Outcome> outcome = new CompletableFuture<>();
    private final CompletableFuture<Void> gone = new CompletableFuture<>();
    private final CompletableFuture<Void> answered = new CompletableFuture<>();
    private @Nullable Attempt attempt; // guarded by this, as the next two
    private int attempts;
    private boolean settled; // answered or withdrawn

    NodeClaim(ZooKeeperBackend backend, ClaimRequest request) {
        this.backend = backend;
        this.request = request;
    }

    /** Done when the first round trip is: the claim has its answer, or waits. */
    CompletableFuture<Void> answered() {
        return answered;
    }

    /** An attempt has found the lock held, and waits. */
    void waits() {
        answered.complete(null);
    }

    ClaimRequest request() {
        return request;
    }

    ZooKeeperBackend backend() {
        return backend;
    }

    /** Asks in a session, unless it has been asked there or in a later one. */
    void ask(Session session) {
        Attempt next;
        synchronized (this) {
            if (settled || attempt != null && attempt.session().generation() >= session.generation()) {
                return;
            }
            next = newAttempt(session);
        }
        next.ask();
    }

    /** Asks again after an attempt that came to nothing. */
    void askAgain(Attempt last) {
        Attempt next;
        synchronized (this) {
            if (settled || attempt != last) {
                return;
            }
            next = newAttempt(last.session());
        }
        next.ask();
    }

    private Attempt newAttempt(Session session) {
        // The number makes nodes of different attempts differ, so that a dying one is not mistaken for one's own.
        String key = request.claimId() + "." + ++attempts;
        Attempt made = backend.isQueued()
                ? new QueuedAttempt(this, session, key)
                : new PlainAttempt(this, session, key, attempts);
        attempt = made;
        return made;
    }

    /** Looks again whether it can be granted, in case that an event was missed. */
    void look(Session session) {
        Attempt current;
        synchronized (this) {
            current = settled ? null : attempt;
        }
        if (current != null && current.session() == session) {
            current.lookAgain();
        }
    }

    /** Ends the claim's wait; false if it was answered or withdrawn before. */
    private boolean settle(@Nullable Attempt by) {
        synchronized (this) {
            if (settled || by != null && by != attempt) {
                return false;
            }
            settled = true;
        }
        backend.forget(this);
        return true;
    }

    /** An attempt has won the lock. */
    void granted(Attempt winner, NodeGrant grant) {
        if (settle(winner)) {
            outcome.complete(new Outcome.Granted(grant));
            answered.complete(null);
        }
    }

    /** An attempt has found the lock held, and may not wait. */
    void busy(Attempt loser, CompletableFuture<Boolean> removed) {
        if (settle(loser)) {
            removed.whenComplete((done, error) -> {
                outcome.complete(Outcome.Busy.INSTANCE);
                answered.complete(null);
            });
        }
    }

    /** No attempt can succeed. */
    void fail(Throwable failure) {
        if (settle(null)) {
            outcome.completeExceptionally(failure);
            answered.complete(null);
        }
    }

    @Override
    public CompletionStage<Outcome> outcome() {
        return outcome;
    }

    @Override
    public CompletionStage<Void> withdraw(Duration blockAtMost) {
        Attempt last;
        synchronized (this) {
            settled = true;
            last = attempt;
        }
        backend.forget(this);
        if (last == null) {
            gone.complete(null);
        } else {
            last.abandon().whenComplete((removed, error) -> gone.complete(null));
        }
        return gone;
    }
}
