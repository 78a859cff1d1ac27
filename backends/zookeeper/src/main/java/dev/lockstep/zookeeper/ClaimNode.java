package dev.lockstep.zookeeper;

import dev.lockstep.LockConfigurationException;
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
 * The node of a claim in one session: at most one. This class knows whether there is a node, and removes it; its {@link
 * Recipe} knows how a node becomes a lock.
 *
 * <p>Works on the session's event thread, where replies and events come in order; only {@link #abandon} is called from
 * elsewhere.
 */
final class ClaimNode {
    private static final Logger log = LoggerFactory.getLogger(ClaimNode.class);

    private enum State {
        /** No node, and no request on its way that could make one. */
        ABSENT,
        /** There may be a node; that is not known yet. */
        ASKING,
        /** There is a node. */
        PRESENT,
        /** As ASKING, but no call wants the lock any more. */
        LEAVING,
        /** The node is being deleted, until it is gone. */
        REMOVING,
        /** No node, and nobody wants one. */
        GONE
    }

    /** The way in which a node becomes a lock, and ends. */
    interface Recipe extends Watches.Listener {
        /** Sends the first requests. */
        void ask();

        /** Looks again, if it waits. */
        void lookAgain();

        /** As {@link #lookAgain}, by the smallest request that finds out what a missed event would have said. Any thread. */
        void checkBlocker();

        /** Ends all watches. */
        void stopWatching();

        /** Deletes the node; again if a try was not answered, so that it may be gone already. */
        void delete(boolean again);

        /** The node was there, and is deleted. */
        default void deleted() {}
    }

    private final ZooKeeperClaim claim;
    private final Session session;
    private final String lockPath;
    private final String key;
    private final Recipe recipe;
    private final CompletableFuture<Boolean> removed = new CompletableFuture<>();
    private State state = State.ABSENT; // guarded by this, as the next
    private int reserved; // bytes of its path in the session; zero when there is no such node any more
    private volatile @Nullable String path;
    private volatile @Nullable ZooKeeperGrant grant;
    private int refusals; // of deletes, in a row; only used by the event thread

    /**
     * Makes one.
     *
     * @param session where there is room for the node
     * @param reserved how much of it, to be freed when there certainly is no node
     */
    ClaimNode(ZooKeeperClaim claim, Session session, String key, int reserved, boolean first) {
        this.claim = claim;
        this.session = session;
        this.key = key;
        this.reserved = reserved;
        this.lockPath = claim.lockPath();
        this.recipe = claim.backend().isQueued() ? new QueueRecipe(this) : new PlainRecipe(this, first);
    }

    void ask() {
        recipe.ask();
    }

    void lookAgain() {
        recipe.lookAgain();
    }

    void checkBlocker() {
        recipe.checkBlocker();
    }

    ZooKeeperClaim claim() {
        return claim;
    }

    ClaimRequest request() {
        return claim.request();
    }

    Session session() {
        return session;
    }

    Link link() {
        return session.link();
    }

    String lockPath() {
        return lockPath;
    }

    String key() {
        return key;
    }

    NodeData data(LockMode mode) {
        return new NodeData(Optional.of(mode), key, request().holder(), Optional.empty());
    }

    /** The node; null if there is none, or none is known. */
    @Nullable
    String knownPath() {
        return path;
    }

    /** The node; only asked for where there is one. */
    String path() {
        String known = path;
        if (known == null) {
            throw new IllegalStateException("Lock '" + request().name() + "': no node yet");
        }
        return known;
    }

    boolean hasNode() {
        return path != null;
    }

    @Nullable
    ZooKeeperGrant grant() {
        return grant;
    }

    /** Listens to a node, until {@link Recipe#stopWatching}, which may have been called already. */
    void watch(String node) {
        session.watches().add(node, recipe);
        if (isAbandoned()) {
            recipe.stopWatching();
        }
    }

    void unwatch(String node) {
        session.watches().remove(node, recipe);
    }

    // ---------------------------------------------------------------- the node on the server

    /** A request that makes a node is about to be sent. False if it must not, because nobody wants the lock any more. */
    boolean beginAsking() {
        return stays(State.ASKING);
    }

    /** There certainly is no node. False if nobody wants one any more. */
    boolean foundNothing() {
        path = null;
        return stays(State.ABSENT);
    }

    /** Moves on to a state without a known node, unless the claim was given up: then it is gone. */
    private boolean stays(State next) {
        synchronized (this) {
            if (!isOut()) {
                state = next;
                return true;
            }
            state = State.GONE;
        }
        recipe.stopWatching();
        gone(false);
        return false;
    }

    /** The node is there. False if nobody wants it any more; it is then removed. */
    boolean foundNode(String node) {
        synchronized (this) {
            path = node;
            if (!isOut()) {
                state = State.PRESENT;
                return true;
            }
            state = State.REMOVING;
        }
        remove();
        return false;
    }

    private boolean isOut() {
        return state == State.LEAVING || state == State.REMOVING || state == State.GONE;
    }

    private synchronized boolean isAbandoned() {
        return isOut();
    }

    /** Whether replies and events do not matter any more. */
    synchronized boolean isOver() {
        return state != State.PRESENT;
    }

    /** Whether it has no node and has not asked for one, but still may. */
    synchronized boolean isIdle() {
        return state == State.ABSENT;
    }

    /** Returns whether a reply is OK. If not, repeats the request, or ends the claim if that cannot help. */
    boolean checkReply(Code code, Runnable again) {
        if (code == Code.OK) {
            return true;
        }
        if (Failure.isEnd(code)) {
            if (!hasNode()) {
                foundNothing();
            }
        } else if (Failure.mayRetry(code)) {
            session.retry(code, again);
        } else {
            fail("read", lockPath, code);
        }
        return false;
    }

    /** The claim cannot succeed, because of a reply. */
    void fail(String what, String where, Code code) {
        if (!hasNode()) {
            foundNothing();
        }
        claim.fail(null, session.failure(request().name(), what, where, code));
    }

    /**
     * Abandons the node.
     *
     * @return done when it is gone: true if it was there until then
     */
    CompletableFuture<Boolean> abandon() {
        State last;
        synchronized (this) {
            last = state;
            state = switch (last) {
                case ABSENT -> State.GONE;
                case ASKING -> State.LEAVING; // the reply leads on
                case PRESENT -> State.REMOVING;
                default -> last;
            };
        }
        if (last == State.ABSENT) {
            recipe.stopWatching();
            gone(false);
        } else if (last == State.PRESENT) {
            remove();
        }
        return removed;
    }

    /** Deletes the node, and tries until it is gone. */
    private void remove() {
        recipe.stopWatching();
        ZooKeeperGrant held = grant;
        if (held != null) {
            session.grants().remove(held);
        }
        if (held != null && held.isRevoked()) {
            gone(false);
        } else {
            recipe.delete(false);
        }
    }

    /** The node is not there any more. If the reply to a delete was lost, that delete is taken to have removed it. */
    void gone(boolean byThis) {
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

    /** Deletes the node, whichever client made it. */
    void deleteNode(boolean again) {
        link().delete(path(), code -> {
            if (code == Code.OK) {
                recipe.deleted();
                gone(true);
            } else if (code == Code.NONODE) {
                gone(again);
            } else {
                notDeleted(code, () -> recipe.delete(true));
            }
        });
    }

    /** The node may be there still, whatever the reason. */
    void notDeleted(Code code, Runnable again) {
        if (Failure.isEnd(code)) {
            gone(false);
        } else if (Failure.mayRetry(code)) {
            session.retry(code, again);
        } else {
            refusals++;
            if (refusals == 1) {
                log.warn(
                        "{} Its node stays until that is possible or the session ends; trying again periodically.",
                        session.failure(request().name(), "delete", path(), code)
                                .getMessage());
            }
            session.retryRefused(refusals, again);
        }
    }

    // ---------------------------------------------------------------- the result

    /**
     * Whether the lock may be granted now. Otherwise tries again when that is known, or refuses the claim.
     *
     * @param again looks whether the lock is still available
     */
    boolean mayWin(Runnable again) {
        if (session.hasEnded()) {
            return false; // the server removes the node; the claim asks again in the next session, or fails
        }
        if (!session.isValid()) {
            session.whenValid(again); // as after a pause
            return false;
        }
        if (session.format().isSame()) {
            return true;
        }
        LockConfigurationException refused = session.format().failure(request().name());
        if (refused == null) {
            session.format().whenKnown(again);
        } else {
            abandon().whenComplete((done, error) -> claim.fail(null, refused));
        }
        return false;
    }

    /** The lock is won. */
    ZooKeeperGrant win(long token, LockMode mode) {
        ZooKeeperGrant won = new ZooKeeperGrant(this, token, mode);
        grant = won;
        session.grants().add(won);
        if (session.hasEnded()) {
            won.revoke(LossReason.SESSION_ENDED); // its end may not have seen this grant
        }
        return won;
    }

    /** The claim has its grant; it may have been given up before its watches were there. */
    void won(ZooKeeperGrant won) {
        claim.granted(this, won);
        if (isOver()) {
            recipe.stopWatching();
            session.grants().remove(won);
        }
    }

    /** The node was deleted, by this client or another. */
    void nodeGone() {
        ZooKeeperGrant held = grant;
        recipe.stopWatching();
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
