package dev.lockstep.zookeeper;

import java.util.ArrayList;
import java.util.List;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.jspecify.annotations.Nullable;

/** The lock with a queue: a sequential node, which has the lock when nothing before it is in its way. */
final class QueueRecipe implements ClaimNode.Recipe {
    /*
     * Overview
     *
     *   create the node, list the queue            one round trip, and the lock if nothing is in the way;
     *                                              no list if this client had the lock many times in a row
     *   else watch the own node, then the blocker  a writer's is the node before it, a reader's the last writer before it
     *   when the blocker goes                      the lock, if it was the only one; else list again
     *
     * A semaphore is the same with several holders, see QueueView. Only the first that waits watches the queue, and lists it
     * again at each change. It becomes a holder without a change of its node, so it touches the node if the next claim may
     * now be the first that waits. A claim that comes after the list by which it was granted sees that it holds.
     *
     * A list may be trusted if the create before it succeeded: the server works in the order of the requests, and every
     * node before this one was there when this one was made. No node comes before it later.
     *
     * The own node's watch is set first, so that its deletion is known before the blocker's could be taken for a grant.
     * A holder also watches the queue: a new node may want the lock, and a deleted node may be its own. It does so when
     * it has waited, since others may wait too, or has held for a moment: a watch costs the server about as much as the
     * list, and the delete that ends a short hold would set it off.
     */
    private final ClaimNode node;
    private final ClaimKind kind;
    private final Arrival arrival;
    private final QueueView queue;
    private boolean ownWatched;
    private volatile @Nullable String blocker;
    private Wait wait = Wait.NONE;
    private boolean alone;
    private boolean looking; // as a holder

    /** The event that the claim waits for, or waited for before it was granted. */
    private enum Wait {
        /** Nothing was in its way. */
        NONE,
        /** The end of the one node that is in its way. */
        FOR_ONE,
        /** The end of a node, after which others may be in its way. */
        FOR_NEXT,
        /** Permits of any holder: it is the first that waits. */
        FOR_ROOM
    }

    QueueRecipe(ClaimNode node) {
        this.node = node;
        this.kind = ClaimKind.of(node.request());
        this.arrival = new Arrival(node, this);
        this.queue = new QueueView(kind);
    }

    @Override
    public void ask() {
        arrival.ask();
    }

    @Override
    public void delete(boolean again) {
        node.deleteNode(again);
    }

    @Override
    public void deleted() {
        arrival.deleted();
    }

    // ---------------------------------------------------------------- waiting

    /** The node was made, and nobody is before it. */
    void first() {
        alone = true;
        grant(false);
    }

    /** Whether nobody was before it when it was granted, or shared the lock with it. */
    boolean wasAlone() {
        return node.grant() != null && (alone || kind.isWriter());
    }

    @Override
    public void lookAgain() {
        if (node.hasNode() && node.grant() == null) {
            look();
        }
    }

    @Override
    public void checkBlocker() {
        String known = blocker;
        if (known == null) {
            lookAgain();
        } else if (node.grant() == null) {
            readBlocker(known);
        }
    }

    /** Lists the queue, with a watch. */
    void look() {
        node.link().children(node.lockPath(), true, (code, names) -> listed(code, names, true));
    }

    /**
     * The queue was listed, after the node was made.
     *
     * @param watched whether that has set a watch on it
     */
    void listed(Code code, List<String> names, boolean watched) {
        if (node.isOver() || node.grant() != null) {
            return;
        }
        if (code == Code.NONODE) {
            node.nodeGone();
        } else if (node.checkReply(code, this::look)) {
            queue.list(names, Keys.last(node.path()));
            List<String> unknown = queue.unknownAges(arrival.token());
            if (unknown.isEmpty()) {
                decide(watched);
            } else {
                readAges(names, unknown);
            }
        }
    }

    private void readAges(List<String> names, List<String> unknown) {
        List<String> left = new ArrayList<>(names);
        int[] open = {unknown.size()};
        for (String name : unknown) {
            node.link().data(node.lockPath() + "/" + name, false, (code, data, stat) -> {
                if (code == Code.OK) {
                    queue.age(name, stat.getCzxid());
                } else if (code == Code.NONODE) {
                    left.remove(name);
                } else if (node.isOver() || !node.checkReply(code, this::look)) {
                    return; // looks again as a whole
                }
                open[0]--;
                if (open[0] == 0 && !node.isOver() && node.grant() == null) {
                    queue.list(left, Keys.last(node.path()));
                    decide(false);
                }
            });
        }
    }

    /**
     * Decides by the queue as it was listed.
     *
     * @param watched whether that list has set a watch which has not fired yet
     */
    private void decide(boolean watched) {
        if (!queue.isListed()) {
            node.nodeGone();
        } else if (queue.isDoubtful()) {
            NameConflict.resolve(node);
        } else if (!queue.isBlocked()) {
            grant(watched);
        } else if (!node.request().mayWait()) {
            node.claim().busy(node, node.abandon());
        } else {
            String next = queue.blocker();
            if (next == null) {
                awaitRoom(watched);
            } else {
                wait = queue.isBlockerTheOnly() ? Wait.FOR_ONE : Wait.FOR_NEXT;
                await(node.lockPath() + "/" + next);
            }
            node.claim().waits();
        }
    }

    /** Waits until any of those that hold a semaphore releases permits. */
    private void awaitRoom(boolean watched) {
        forgetBlocker();
        wait = Wait.FOR_ROOM;
        node.watch(node.lockPath());
        if (!watched) {
            look();
        }
    }

    private void await(String path) {
        watchOwn();
        forgetBlocker();
        blocker = path;
        node.watch(path);
        readBlocker(path);
    }

    private void readBlocker(String path) {
        node.link().data(path, true, (code, data, stat) -> {
            if (node.isOver() || node.grant() != null || !path.equals(blocker)) {
                return;
            }
            if (code == Code.NONODE) {
                blockerGone();
            } else if (node.checkReply(code, () -> await(path))) {
                if (kind.isSemaphore()) {
                    boolean touched = stat.getVersion() > 0 && queue.fitsBesideBlocker();
                    if (touched && queue.touched(Keys.last(path))) {
                        look();
                    }
                } else if (!kind.isWriter() && NodeData.isShared(data) && queue.downgraded(Keys.last(path))) {
                    decide(false);
                }
            }
        });
    }

    private void blockerGone() {
        forgetBlocker();
        if (wait == Wait.FOR_ONE) {
            grant(false);
        } else {
            look();
        }
    }

    private void forgetBlocker() {
        String known = blocker;
        if (known != null) {
            node.unwatch(known);
            blocker = null;
        }
    }

    private void watchOwn() {
        if (ownWatched) {
            return;
        }
        ownWatched = true;
        node.watch(node.path());
        readOwn();
    }

    private void readOwn() {
        node.link().data(node.path(), true, (code, data, stat) -> {
            if (node.isOver()) {
                return;
            }
            if (code == Code.NONODE) {
                node.nodeGone();
            } else {
                node.checkReply(code, this::readOwn);
            }
        });
    }

    @Override
    public void changed(String path, EventType type) {
        if (node.isOver()) {
            return;
        }
        boolean deleted = type == EventType.NodeDeleted;
        if (path.equals(node.path())) {
            if (deleted) {
                node.nodeGone();
            } else {
                readOwn();
            }
        } else if (path.equals(blocker)) {
            if (deleted) {
                blockerGone();
            } else if (queue.fitsBesideBlocker()) {
                look(); // it holds now
            } else {
                await(path);
            }
        } else if (path.equals(node.lockPath()) && node.grant() != null) {
            watchOwn();
            lookAsHolder();
        } else if (path.equals(node.lockPath()) && wait == Wait.FOR_ROOM) {
            look();
        }
    }

    // ---------------------------------------------------------------- holding

    private void grant(boolean watched) {
        if (!node.mayWin(this::lookAgain)) {
            return;
        }
        forgetBlocker();
        ZooKeeperGrant won = node.win(arrival.token(), kind.mode());
        if (kind.isSemaphore()) {
            holdPermits(won);
            return;
        }
        node.watch(node.lockPath());
        if (watched || wait == Wait.NONE) {
            tellWanted(won);
        }
        node.won(won);
        if (wait == Wait.NONE && !watched) {
            node.session().queueChecks().add(this);
        } else if (!watched) {
            lookAsHolder();
        }
    }

    /**
     * Holders are not notified when another client wants permits, so a holder watches its own node, and not the queue.
     */
    private void holdPermits(ZooKeeperGrant won) {
        if (wait == Wait.FOR_ROOM) {
            node.unwatch(node.lockPath());
        }
        alone |= queue.isFirst();
        boolean awaited = queue.isAwaitedByNext();
        node.won(won);
        if (awaited) {
            won.touch();
        }
        if (wait != Wait.NONE) {
            watchOwn();
        } else {
            node.session().queueChecks().add(this);
        }
    }

    /** It has been held for a moment, or has ended. Called on a timer's thread. */
    void watchQueue() {
        ZooKeeperGrant held = node.grant();
        if (held == null || node.isOver()) {
            return;
        }
        if (kind.isSemaphore()) {
            node.watch(node.path());
            readOwn();
        } else {
            node.link().children(node.lockPath(), true, (code, names) -> seenAsHolder(held, code, names));
        }
    }

    /**
     * Checks whether a node waits behind this one, and watches for the next arrival. One check at a time: an event that
     * comes before its answer is about a change that the check will see, since the server does not read while it writes.
     */
    private void lookAsHolder() {
        ZooKeeperGrant held = node.grant();
        if (looking || held == null || held.isWanted() || node.isOver()) {
            return;
        }
        looking = true;
        node.link().children(node.lockPath(), true, (code, names) -> {
            looking = false;
            seenAsHolder(held, code, names);
        });
    }

    private void seenAsHolder(ZooKeeperGrant held, Code code, List<String> names) {
        if (node.isOver()) {
            return;
        }
        if (code == Code.NONODE) {
            node.nodeGone();
        } else if (node.checkReply(code, this::lookAsHolder)) {
            queue.list(names, Keys.last(node.path()));
            if (queue.isListed()) {
                tellWanted(held);
            } else {
                node.nodeGone();
            }
        }
    }

    private void tellWanted(ZooKeeperGrant held) {
        if (queue.isWanted(held.mode(), node.claim().backend().clientId())) {
            held.signalWanted();
        }
    }

    @Override
    public void stopWatching() {
        node.unwatch(node.lockPath());
        String own = node.knownPath(); // read once: another thread may find that it is gone
        if (own != null) {
            node.unwatch(own);
        }
        forgetBlocker();
    }
}
