package dev.lockstep.zookeeper;

import dev.lockstep.LockMode;
import java.util.ArrayList;
import java.util.List;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.jspecify.annotations.Nullable;

/** An attempt in a lock's queue: a sequential node, which has the lock when nothing before it is in its way. */
final class QueuedAttempt extends Arrival {
    /*
     * Overview
     *
     *   create the node, list the queue            one round trip, and the lock if nothing is in the way;
     *                                              no list if this client had the lock many times in a row
     *   else watch the own node, then the blocker  a writer's is the node before it, a reader's the last writer before it
     *   when the blocker goes                      the lock, if it was the only one; else list again
     *
     * A list may be trusted if the create before it succeeded: the server works in the order of the requests, and whoever
     * is before a node was there when it was made. Nobody comes before it later.
     *
     * The own node's watch is set first, so that its deletion is known before the blocker's could be taken for a grant.
     * A holder also watches the queue: whoever comes may want the lock, and whatever goes may be its own node. It does so
     * when it has waited, since others may wait too, or has held for a moment: a watch costs the server about as much as
     * the list, and the delete that ends a short hold would set it off.
     */
    private final Place place;
    private boolean ownWatched;
    private volatile @Nullable String blocker;
    private boolean onlyBlocker;
    private boolean waited;
    private boolean looking; // as a holder

    QueuedAttempt(NodeClaim claim, Session session, String key, int reserved) {
        super(claim, session, key, reserved);
        this.place = new Place(mode());
    }

    // ---------------------------------------------------------------- waiting

    @Override
    void first() {
        grant(false);
    }

    @Override
    void lookAgain() {
        if (hasNode() && grant() == null) {
            look();
        }
    }

    @Override
    void look() {
        requests().children(lockPath(), true, (code, names) -> listed(code, names, true));
    }

    @Override
    void listed(Code code, List<String> names, boolean watched) {
        if (isOver() || grant() != null) {
            return;
        }
        if (code == Code.NONODE) {
            nodeGone();
        } else if (goOn(code, this::look)) {
            place.list(names, Names.last(path()));
            List<String> unknown = place.unknownAges(token());
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
            requests().data(lockPath() + "/" + name, false, (code, data, stat) -> {
                if (code == Code.OK) {
                    place.age(name, stat.getCzxid());
                } else if (code == Code.NONODE) {
                    left.remove(name);
                } else if (isOver() || !goOn(code, this::look)) {
                    return; // looks again as a whole
                }
                open[0]--;
                if (open[0] == 0 && !isOver() && grant() == null) {
                    place.list(left, Names.last(path()));
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
        if (!place.isListed()) {
            nodeGone();
        } else if (!place.isBlocked()) {
            grant(watched);
        } else if (!request().mayWait()) {
            claim().busy(this, abandon());
        } else {
            waited = true;
            onlyBlocker = place.isBlockerTheOnly();
            await(lockPath() + "/" + place.blocker());
            claim().waits();
        }
    }

    private void await(String node) {
        watchOwn();
        forgetBlocker();
        blocker = node;
        watch(node);
        requests().data(node, true, (code, data, stat) -> {
            if (isOver() || grant() != null || !node.equals(blocker)) {
                return;
            }
            if (code == Code.NONODE) {
                blockerGone();
            } else if (goOn(code, () -> await(node))) {
                boolean shared = NodeData.isShared(data);
                if (shared && mode() == LockMode.SHARED && place.downgraded(Names.last(node))) {
                    decide(false);
                }
            }
        });
    }

    private void blockerGone() {
        forgetBlocker();
        if (onlyBlocker) {
            grant(false);
        } else {
            look();
        }
    }

    private void forgetBlocker() {
        String known = blocker;
        if (known != null) {
            session().watches().remove(known, this);
            blocker = null;
        }
    }

    private void watchOwn() {
        if (ownWatched) {
            return;
        }
        ownWatched = true;
        watch(path());
        readOwn();
    }

    private void readOwn() {
        requests().data(path(), true, (code, data, stat) -> {
            if (isOver()) {
                return;
            }
            if (code == Code.NONODE) {
                nodeGone();
            } else {
                goOn(code, this::readOwn);
            }
        });
    }

    @Override
    public void changed(String node, EventType type) {
        if (isOver()) {
            return;
        }
        boolean deleted = type == EventType.NodeDeleted;
        if (node.equals(path())) {
            if (deleted) {
                nodeGone();
            } else {
                readOwn();
            }
        } else if (node.equals(blocker)) {
            if (deleted) {
                blockerGone();
            } else {
                await(node);
            }
        } else if (node.equals(lockPath()) && grant() != null) {
            watchOwn();
            lookAsHolder();
        }
    }

    // ---------------------------------------------------------------- holding

    private void grant(boolean watched) {
        if (!session().isValid()) {
            session().whenValid(this::lookAgain); // as after a pause
            return;
        }
        forgetBlocker();
        NodeGrant won = win(token(), mode());
        watch(lockPath());
        if (watched || !waited) {
            tellWanted(won);
        }
        claim().granted(this, won);
        if (!waited && !watched) {
            session().heldForAMoment().add(this);
        } else if (!watched) {
            lookAsHolder();
        }
        if (isOver()) {
            stopWatching(); // it may have been given up before the watches were there
            session().grants().remove(won);
        }
    }

    /** It has been held for a moment, or has ended. Called on a timer's thread. */
    void watchQueue() {
        NodeGrant held = grant();
        if (held != null && !isOver()) {
            requests().children(lockPath(), true, (code, names) -> seenAsHolder(held, code, names));
        }
    }

    /**
     * Looks who waits behind, and sets the watch for whoever comes next. One look at a time: an event that comes before its
     * answer tells of a change that it will see, since the server does not read while it writes.
     */
    private void lookAsHolder() {
        NodeGrant held = grant();
        if (looking || held == null || held.isWanted() || isOver()) {
            return;
        }
        looking = true;
        requests().children(lockPath(), true, (code, names) -> {
            looking = false;
            seenAsHolder(held, code, names);
        });
    }

    private void seenAsHolder(NodeGrant held, Code code, List<String> names) {
        if (isOver()) {
            return;
        }
        if (code == Code.NONODE) {
            nodeGone();
        } else if (goOn(code, this::lookAsHolder)) {
            place.list(names, Names.last(path()));
            if (place.isListed()) {
                tellWanted(held);
            } else {
                nodeGone();
            }
        }
    }

    private void tellWanted(NodeGrant held) {
        if (place.isWanted(held.mode(), claim().backend().clientId())) {
            held.signalWanted();
        }
    }

    @Override
    void stopWatching() {
        Watches watches = session().watches();
        watches.remove(lockPath(), this);
        String own = knownPath(); // read once: another thread may find that it is gone
        if (own != null) {
            watches.remove(own, this);
        }
        forgetBlocker();
    }
}
