package dev.lockstep.zookeeper;

import dev.lockstep.LockMode;
import dev.lockstep.spi.ClaimRequest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/** An attempt in a lock's queue: a sequential node, which has the lock when nothing before it is in its way. */
final class QueuedAttempt extends Attempt {
    /*
     * Overview
     *
     *   create the node, list the queue            one round trip, and the lock if nothing is in the way
     *   else watch the own node, then the blocker  a writer's is the node before it, a reader's the last writer before it
     *   when the blocker goes                      the lock, if it was the only one; else list again
     *
     * A list may be trusted if the create before it succeeded: the server works in the order of the requests, and whoever
     * is before a node was there when it was made. Nobody comes before it later.
     *
     * The own node's watch is set first, so that its deletion is known before the blocker's could be taken for a grant.
     * A holder also watches the queue (the list sets that watch): whoever comes may want the lock, and whatever goes may
     * be its own node.
     */
    private static final int MOST_PARENTS = 3;

    private final LockMode mode;
    private final Set<String> downgraded = new HashSet<>(); // writers by name that have become readers
    private final Map<String, Long> ages = new HashMap<>(); // of nodes that the server has not counted
    private List<QueueNode> queue = List.of();
    private long token;
    private boolean ownWatched;
    private volatile @Nullable String blocker;
    private boolean onlyBlocker;

    QueuedAttempt(NodeClaim claim, Session session, String key) {
        super(claim, session, key);
        this.mode = claim.request().mode();
    }

    // ---------------------------------------------------------------- a place in the queue

    @Override
    void ask() {
        create(0);
    }

    private void create(int missingParents) {
        if (!beginAsking()) {
            return;
        }
        ClaimRequest request = request();
        String prefix = lockPath() + "/" + QueueNode.prefix(mode, request.mayWait(), key());
        requests()
                .create(
                        prefix,
                        data(mode).bytes(),
                        CreateMode.EPHEMERAL_SEQUENTIAL,
                        missingParents,
                        (code, made, stat) -> created(code, made, stat, missingParents));
        requests().children(lockPath(), true, (code, names) -> {
            if (hasNode()) { // otherwise the create before it has failed, and goes another way
                listed(code, names);
            }
        });
    }

    private void created(Code code, @Nullable String made, @Nullable Stat stat, int missingParents) {
        if (code == Code.OK && made != null && stat != null) {
            token = stat.getCzxid();
            foundNode(made);
        } else if (code == Code.NONODE && missingParents < MOST_PARENTS) {
            create(missingParents + 1);
        } else if (code == Code.NODEEXISTS && missingParents > 0) {
            create(missingParents - 1);
        } else if (Replies.isEnd(code)) {
            foundNothing();
        } else if (Replies.mayRetry(code)) {
            session().retry(code, this::find);
        } else {
            fail("make a node in", lockPath(), code);
        }
    }

    /** Finds the node after its create was not answered, or makes it if there is none. */
    private void find() {
        requests().sync(synced -> {
            if (goOn(synced, this::find)) {
                requests().children(lockPath(), false, (code, names) -> {
                    if (code == Code.NONODE) {
                        create(0);
                    } else if (goOn(code, this::find)) {
                        find(names);
                    }
                });
            }
        });
    }

    private void find(List<String> names) {
        for (QueueNode node : QueueNode.queue(names, ages)) {
            if (node.key().equals(key())) {
                adopt(lockPath() + "/" + node.name());
                return;
            }
        }
        create(0);
    }

    private void adopt(String node) {
        requests().data(node, false, (code, data, stat) -> {
            if (code == Code.NONODE
                    || code == Code.OK && stat.getEphemeralOwner() != session().id()) {
                create(0);
            } else if (goOn(code, this::find)) {
                token = stat.getCzxid();
                if (foundNode(node)) {
                    look();
                }
            }
        });
    }

    /** Whether a reply is a good one; otherwise does what has to be done. */
    private boolean goOn(Code code, Runnable again) {
        if (code == Code.OK) {
            return true;
        }
        if (Replies.isEnd(code)) {
            if (!hasNode()) {
                foundNothing();
            }
        } else if (Replies.mayRetry(code)) {
            session().retry(code, again);
        } else {
            fail("read", lockPath(), code);
        }
        return false;
    }

    // ---------------------------------------------------------------- waiting

    @Override
    void lookAgain() {
        if (hasNode() && grant() == null) {
            look();
        }
    }

    private void look() {
        requests().children(lockPath(), true, this::listed);
    }

    private void listed(Code code, List<String> names) {
        if (isOver() || grant() != null) {
            return;
        }
        if (code == Code.NONODE) {
            nodeGone();
        } else if (goOn(code, this::look)) {
            queue = QueueNode.queue(names, ages);
            List<String> unknown = unknownAges();
            if (unknown.isEmpty()) {
                decide(true);
            } else {
                readAges(names, unknown);
            }
        }
    }

    /** Those whose place is not known by their numbers, if it matters. */
    private List<String> unknownAges() {
        int own = QueueNode.indexOf(queue, Names.last(path()));
        if (own < 0 || queue.get(own).isCounted()) {
            return List.of();
        }
        ages.put(queue.get(own).name(), token);
        return queue.stream()
                .filter(node -> !node.isCounted() && !ages.containsKey(node.name()))
                .map(QueueNode::name)
                .toList();
    }

    private void readAges(List<String> names, List<String> unknown) {
        List<String> left = new ArrayList<>(names);
        int[] open = {unknown.size()};
        for (String name : unknown) {
            requests().data(lockPath() + "/" + name, false, (code, data, stat) -> {
                if (code == Code.OK) {
                    ages.put(name, stat.getCzxid());
                } else if (code == Code.NONODE) {
                    left.remove(name);
                } else if (isOver() || !goOn(code, this::look)) {
                    return; // looks again as a whole
                }
                open[0]--;
                if (open[0] == 0 && !isOver() && grant() == null) {
                    queue = QueueNode.queue(left, ages);
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
        int own = QueueNode.indexOf(queue, Names.last(path()));
        if (own < 0) {
            nodeGone();
            return;
        }
        int before = blockerOf(own);
        if (before < 0) {
            grant(watched);
        } else if (!request().mayWait()) {
            claim().busy(this, abandon());
        } else {
            onlyBlocker = mode == LockMode.EXCLUSIVE ? own == 1 : blockerOf(before) < 0;
            await(lockPath() + "/" + queue.get(before).name());
            claim().waits();
        }
    }

    /** What is in the way of a place: the one before it, or for a reader the last writer before it. */
    private int blockerOf(int place) {
        int before = place - 1;
        while (mode == LockMode.SHARED && before >= 0 && !isInTheWayOfReaders(queue.get(before))) {
            before--;
        }
        return before;
    }

    private boolean isInTheWayOfReaders(QueueNode node) {
        return node.isWriter() && !downgraded.contains(node.name());
    }

    private void await(String node) {
        watchOwn();
        forgetBlocker();
        blocker = node;
        session().watches().add(node, this);
        requests().data(node, true, (code, data, stat) -> {
            if (isOver() || grant() != null || !node.equals(blocker)) {
                return;
            }
            if (code == Code.NONODE) {
                blockerGone();
            } else if (goOn(code, () -> await(node))) {
                boolean shared = NodeData.isShared(data);
                if (shared && mode == LockMode.SHARED && downgraded.add(Names.last(node))) {
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
        session().watches().add(path(), this);
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
        NodeGrant won = win(token, mode);
        session().watches().add(lockPath(), this);
        if (watched) {
            tellWanted(won);
        }
        claim().granted(this, won);
        if (!watched) {
            lookAsHolder();
        }
        if (isOver()) {
            stopWatching(); // it may have been given up before the watches were there
            session().grants().remove(won);
        }
    }

    /** Looks who waits behind, and sets the watch for whoever comes next. */
    private void lookAsHolder() {
        NodeGrant held = grant();
        if (held == null || held.isWanted() || isOver()) {
            return;
        }
        requests().children(lockPath(), true, (code, names) -> {
            if (isOver()) {
                return;
            }
            if (goOn(code, this::lookAsHolder)) {
                queue = QueueNode.queue(names, ages);
                tellWanted(held);
            }
        });
    }

    private void tellWanted(NodeGrant held) {
        int own = QueueNode.indexOf(queue, Names.last(path()));
        for (QueueNode node : queue.subList(own + 1, queue.size())) {
            boolean blocked = held.mode() == LockMode.EXCLUSIVE || node.isWriter();
            if (blocked && node.waits() && !node.isOf(claim().backend().clientId())) {
                held.signalWanted();
                return;
            }
        }
    }

    @Override
    void stopWatching() {
        Watches watches = session().watches();
        watches.remove(lockPath(), this);
        if (hasNode()) {
            watches.remove(path(), this);
        }
        forgetBlocker();
    }
}
