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
 * A claim, from its submission to its answer or withdrawal. It has one {@link ClaimNode} in each session, and another in the
 * same one if its node is deleted while it waits. Safe for use by many threads.
 */
final class ZooKeeperClaim implements Claim {
    private enum State {
        /** It may still be granted. */
        OPEN,
        /** Granted, busy or failed. */
        SETTLED,
        /** No call wants it any more. */
        WITHDRAWN
    }

    private final ZooKeeperBackend backend;
    private final ClaimRequest request;
    private final String lockPath;
    private final CompletableFuture<Outcome> outcome = new CompletableFuture<>();
    private final CompletableFuture<Void> gone = new CompletableFuture<>();
    private final CompletableFuture<Void> answered = new CompletableFuture<>();
    private State state = State.OPEN; // guarded by this, as the next two
    private @Nullable ClaimNode node;
    private int nodes;
    private volatile boolean mustWait;

    ZooKeeperClaim(ZooKeeperBackend backend, ClaimRequest request) {
        this.backend = backend;
        this.request = request;
        this.lockPath = backend.keys().lockPath(request.name());
    }

    /** Done when the first round trip is: the claim has its answer, or waits. */
    CompletableFuture<Void> answered() {
        return answered;
    }

    /** It lets others ask first, for which no caller is to block. */
    void asksLater() {
        answered.complete(null);
    }

    /** Its node has found the lock held, and waits. */
    void waits() {
        boolean news = !mustWait;
        mustWait = true;
        backend.sessions().checkWaits();
        answered.complete(null);
        if (news) {
            request.listener().waiting();
        }
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

    /** Asks again after a node came to nothing. */
    void askAgain(ClaimNode last) {
        ask(last);
    }

    private void ask(@Nullable ClaimNode failed) {
        ClaimNode next;
        try {
            synchronized (this) {
                boolean asked =
                        node != null && node != failed && !node.session().hasEnded();
                if (state != State.OPEN || asked) {
                    return;
                }
                next = newNode();
            }
        } catch (LockUnavailableException e) {
            fail(null, e);
            return;
        }
        next.ask();
    }

    private ClaimNode newNode() {
        // The number makes the nodes differ, so that a dying one is not mistaken for one's own.
        String key = request.claimId() + "." + ++nodes;
        int bytes = backend.pathBytes(lockPath, ClaimKind.of(request), key);
        Session session = backend.sessions().reserve(bytes, request.name());
        ClaimNode made = new ClaimNode(this, session, key, bytes, nodes == 1);
        node = made;
        return made;
    }

    /** Where it has asked last; null before that. */
    synchronized @Nullable Session session() {
        return node == null ? null : node.session();
    }

    /** Looks again whether it can be granted, in case that an event was missed. */
    void look(Session session) {
        ClaimNode current;
        synchronized (this) {
            current = state == State.OPEN ? node : null;
        }
        if (current != null && current.session() == session) {
            current.lookAgain();
        }
    }

    /** Checks the node that it waits for, in case an event was missed on a connection that stayed open. */
    void checkBlocker() {
        ClaimNode current;
        synchronized (this) {
            current = state == State.OPEN && mustWait ? node : null;
        }
        if (current != null) {
            current.checkBlocker();
        }
    }

    /** Ends the claim's wait; false if it was answered or withdrawn before. */
    private boolean settle(@Nullable ClaimNode by) {
        synchronized (this) {
            if (state != State.OPEN || by != null && by != node) {
                return false;
            }
            state = State.SETTLED;
        }
        backend.sessions().forget(this);
        return true;
    }

    /** Its node has won the lock. */
    void granted(ClaimNode winner, ZooKeeperGrant grant) {
        if (settle(winner)) {
            outcome.complete(new Outcome.Granted(grant));
            answered.complete(null);
        }
    }

    /** Its node has found the lock held, and may not wait. */
    void busy(ClaimNode loser, CompletableFuture<Boolean> removed) {
        if (settle(loser)) {
            removed.whenComplete((done, error) -> {
                outcome.complete(Outcome.Busy.INSTANCE);
                answered.complete(null);
            });
        }
    }

    /**
     * It cannot succeed.
     *
     * @param in only if it has asked in this session last; null if that does not matter
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
        ClaimNode last;
        synchronized (this) {
            state = State.WITHDRAWN;
            last = node;
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
