package dev.lockstep.zookeeper;

import dev.lockstep.LockMode;
import dev.lockstep.LossReason;
import dev.lockstep.spi.ClaimRequest;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One attempt of a claim to have its lock, in one session: at most one node. This part knows whether there is a node,
 * and clears it up; its subclasses know how a node becomes a lock.
 *
 * <p>Works on the session's event thread, where replies and events come in order; only {@link #abandon} and {@link
 * #remove} are called from elsewhere.
 */
abstract class Attempt implements Watches.Listener {
    private static final Logger log = LoggerFactory.getLogger(Attempt.class);

    private enum State {
        /** No node, and no request on its way that could make one. */
        NOTHING,
        /** There may be a node, which is not known yet. */
        ASKING,
        /** There is a node. */
        NODE
    }

    private final NodeClaim claim;
    private final Session session;
    private final String lockPath;
    private final String key;
    private final CompletableFuture<Boolean> removed = new CompletableFuture<>();
    private State state = State.NOTHING; // guarded by this, as the next three
    private boolean abandoned;
    private boolean removing;
    private int reserved; // bytes of its node's path in the session; zero when there is no such node any more
    private volatile @Nullable String path;
    private volatile @Nullable NodeGrant grant;
    private int refusals; // of deletes, in a row; only used by the event thread

    /**
     * Makes one.
     *
     * @param session where there is room for the node
     * @param reserved how much of it, to be freed when there certainly is no node
     */
    Attempt(NodeClaim claim, Session session, String key, int reserved) {
        this.claim = claim;
        this.session = session;
        this.key = key;
        this.reserved = reserved;
        this.lockPath = claim.lockPath();
    }

    /** Sends the first requests. */
    abstract void ask();

    /** Looks again, if it waits. */
    abstract void lookAgain();

    /** Hears no more of nodes. */
    abstract void stopWatching();

    final NodeClaim claim() {
        return claim;
    }

    final ClaimRequest request() {
        return claim.request();
    }

    final Session session() {
        return session;
    }

    final Requests requests() {
        return session.requests();
    }

    final String lockPath() {
        return lockPath;
    }

    final String key() {
        return key;
    }

    final NodeData data(LockMode mode) {
        return new NodeData(Optional.of(mode), key, request().holder());
    }

    /** The node; null if there is none, or none is known. */
    final @Nullable String knownPath() {
        return path;
    }

    /** The node; only asked for where there is one. */
    final String path() {
        String known = path;
        if (known == null) {
            throw new IllegalStateException("Lock '" + request().name() + "': no node yet");
        }
        return known;
    }

    final boolean hasNode() {
        return path != null;
    }

    final @Nullable NodeGrant grant() {
        return grant;
    }

    /** Listens to a node, until {@link #stopWatching}, which may have been called already. */
    final void watch(String node) {
        session.watches().add(node, this);
        if (isAbandoned()) {
            stopWatching();
        }
    }

    // ---------------------------------------------------------------- what there is at the server

    /** A request that makes a node is about to be sent. False if it must not, because nobody wants the lock any more. */
    final boolean beginAsking() {
        synchronized (this) {
            state = abandoned ? State.NOTHING : State.ASKING;
            if (!abandoned) {
                return true;
            }
        }
        stopWatching();
        gone(false);
        return false;
    }

    /** The node is there. False if nobody wants it any more; it is then removed. */
    final boolean foundNode(String node) {
        synchronized (this) {
            path = node;
            state = State.NODE;
            if (!abandoned) {
                return true;
            }
        }
        remove();
        return false;
    }

    /** There certainly is no node. False if nobody wants one any more. */
    final boolean foundNothing() {
        synchronized (this) {
            path = null;
            state = State.NOTHING;
            if (!abandoned) {
                return true;
            }
        }
        stopWatching();
        gone(false);
        return false;
    }

    /** Whether replies and events matter no more. */
    final synchronized boolean isOver() {
        return abandoned || state != State.NODE;
    }

    private synchronized boolean isAbandoned() {
        return abandoned;
    }

    /** Whether it has no node and asks for none, but may. */
    final synchronized boolean isIdle() {
        return !abandoned && state == State.NOTHING;
    }

    /** No attempt can succeed, because of a reply. */
    final void fail(String what, String where, Code code) {
        if (!hasNode()) {
            foundNothing();
        }
        claim.fail(null, session.failure(request().name(), what, where, code));
    }

    /**
     * Gives the attempt up.
     *
     * @return done when its node is gone: true if it was there until then
     */
    final CompletableFuture<Boolean> abandon() {
        State last;
        synchronized (this) {
            abandoned = true;
            last = state;
        }
        switch (last) {
            case NOTHING -> {
                stopWatching();
                gone(false);
            }
            case NODE -> remove();
            case ASKING -> {} // the reply brings it here again
        }
        return removed;
    }

    /** Deletes the node, and goes on until it is gone. */
    private void remove() {
        synchronized (this) {
            if (removing) {
                return;
            }
            removing = true;
        }
        stopWatching();
        NodeGrant held = grant;
        if (held != null) {
            session.grants().remove(held);
        }
        if (held != null && held.isRevoked()) {
            gone(false);
        } else {
            deleteNode();
        }
    }

    /** Deletes the node for the first time. */
    void deleteNode() {
        delete(false);
    }

    /** The node is not there any more. A delete whose reply was lost has done it, as far as anybody can know. */
    final void gone(boolean byThis) {
        free();
        removed.complete(byThis);
    }

    private void free() {
        int bytes;
        synchronized (this) {
            bytes = reserved;
            reserved = 0;
        }
        session.room().free(bytes);
    }

    final void delete(boolean again) {
        requests().delete(path(), code -> {
            if (code == Code.OK) {
                deleted();
                gone(true);
            } else if (code == Code.NONODE) {
                gone(again);
            } else {
                notDeleted(code, this::deleteAgain);
            }
        });
    }

    /** The node may be there still, whatever the reason. */
    final void notDeleted(Code code, Runnable again) {
        if (Replies.isEnd(code)) {
            gone(false);
        } else if (Replies.mayRetry(code)) {
            session.retry(code, again);
        } else {
            refusals++;
            if (refusals == 1) {
                log.warn(
                        "{} Its node stays until that is possible or the session ends; trying again now and then.",
                        session.failure(request().name(), "delete", path(), code)
                                .getMessage());
            }
            session.retryRefused(refusals, again);
        }
    }

    /** The node was there, and is deleted. */
    void deleted() {}

    /** Deletes the node after a try that was not answered. */
    void deleteAgain() {
        delete(true);
    }

    // ---------------------------------------------------------------- what becomes of it

    /** The lock is won. */
    final NodeGrant win(long token, LockMode mode) {
        NodeGrant won = new NodeGrant(this, token, mode);
        grant = won;
        session.grants().add(won);
        return won;
    }

    /** Somebody deleted the node, unless it was this client. */
    final void nodeGone() {
        NodeGrant held = grant;
        stopWatching();
        if (held != null) {
            session.grants().remove(held);
            free();
            held.revoke(LossReason.REVOKED);
        } else if (foundNothing()) {
            free();
            claim.askAgain(this);
        }
    }
}
