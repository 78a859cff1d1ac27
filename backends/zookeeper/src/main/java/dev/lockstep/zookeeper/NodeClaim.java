package dev.lockstep.zookeeper;

import dev.lockstep.LockUnavailableException;
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
    private final String lockPath;
    private final CompletableFuture<Outcome> outcome = new CompletableFuture<>();
    private final CompletableFuture<Void> gone = new CompletableFuture<>();
    private final CompletableFuture<Void> answered = new CompletableFuture<>();
    private @Nullable Attempt attempt; // guarded by this, as the next two
    private int attempts;
    private boolean settled; // answered or withdrawn
    private volatile boolean mustWait;

    NodeClaim(ZooKeeperBackend backend, ClaimRequest request) {
        this.backend = backend;
        this.request = request;
        this.lockPath = backend.names().lockPath(request.name());
    }

    /** Done when the first round trip is: the claim has its answer, or waits. */
    CompletableFuture<Void> answered() {
        return answered;
    }

    /** An attempt lets others ask first, for which no caller is to block. */
    void asksLater() {
        answered.complete(null);
    }

    /** An attempt has found the lock held, and waits. */
    void waits() {
        mustWait = true;
        answered.complete(null);
    }

    ClaimRequest request() {
        return request;
    }

    ZooKeeperBackend backend() {
        return backend;
    }

    String lockPath() {
        return lockPath;
    }

    /** Asks, unless it has asked in a session that has not ended. */
    void ask() {
        ask(null);
    }

    /** Asks again after an attempt that came to nothing. */
    void askAgain(Attempt last) {
        ask(last);
    }

    private void ask(@Nullable Attempt failed) {
        Attempt next;
        try {
            synchronized (this) {
                boolean asked = attempt != null
                        && attempt != failed
                        && !attempt.session().hasEnded();
                if (settled || asked) {
                    return;
                }
                next = newAttempt();
            }
        } catch (LockUnavailableException e) {
            fail(null, e);
            return;
        }
        next.ask();
    }

    private Attempt newAttempt() {
        // The number makes nodes of different attempts differ, so that a dying one is not mistaken for one's own.
        String key = request.claimId() + "." + ++attempts;
        int bytes = backend.pathBytes(lockPath, key);
        Session session = backend.sessions().reserve(bytes, request.name());
        Attempt made = backend.isQueued()
                ? new QueuedAttempt(this, session, key, bytes)
                : new PlainAttempt(this, session, key, bytes, attempts);
        attempt = made;
        return made;
    }

    /** Where it has asked last; null before that. */
    synchronized @Nullable Session session() {
        return attempt == null ? null : attempt.session();
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
        backend.sessions().forget(this);
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

    /**
     * No attempt can succeed.
     *
     * @param in only one in this session, if not null
     */
    void fail(@Nullable Session in, Throwable failure) {
        if ((in == null || in == session()) && settle(null)) {
            outcome.completeExceptionally(failure);
            answered.complete(null);
        }
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
        Attempt last;
        synchronized (this) {
            settled = true;
            last = attempt;
        }
        backend.sessions().forget(this);
        if (last == null) {
            gone.complete(null);
        } else {
            last.abandon().whenComplete((removed, error) -> gone.complete(null));
        }
        return gone;
    }
}
