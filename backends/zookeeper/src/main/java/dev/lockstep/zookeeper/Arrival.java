package dev.lockstep.zookeeper;

import dev.lockstep.LockMode;
import dev.lockstep.spi.ClaimRequest;
import java.util.List;
import java.util.Map;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;

/**
 * The beginning of an attempt in a queue: makes its node, with parents that are missing, and lists the queue in the same
 * round trip, unless the session's {@link LastHolds} make that needless. A node that was made without an answer is found
 * again. What follows is the subclass's.
 */
abstract class Arrival extends Attempt {
    private static final int MOST_PARENTS = 3;

    private final LockMode mode;
    private long token; // only touched by the event thread, as the next
    private int inARow;

    Arrival(NodeClaim claim, Session session, String key, int reserved) {
        super(claim, session, key, reserved);
        this.mode = claim.request().mode();
    }

    /** The node was made, and nobody is before it. */
    abstract void first();

    /** Lists the queue, with a watch, for {@link #listed}. */
    abstract void look();

    /**
     * The queue was listed, after the node was made.
     *
     * @param watched whether that has set a watch on it
     */
    abstract void listed(Code code, List<String> names, boolean watched);

    final LockMode mode() {
        return mode;
    }

    /** The transaction that made the node. */
    final long token() {
        return token;
    }

    @Override
    final void ask() {
        create(0);
    }

    private void create(int missingParents) {
        if (!beginAsking()) {
            return;
        }
        ClaimRequest request = request();
        boolean list = missingParents > 0 || !session().lastHolds().isAlone(lockPath());
        String prefix = lockPath() + "/" + QueueNode.prefix(mode, request.mayWait(), key());
        requests()
                .create(
                        prefix,
                        data(mode).bytes(),
                        CreateMode.EPHEMERAL_SEQUENTIAL,
                        missingParents,
                        (code, made, stat) -> {
                            if (code == Code.OK && made != null && stat != null) {
                                created(made, stat, list);
                            } else {
                                notCreated(code, missingParents);
                            }
                        });
        if (list) {
            list();
        }
    }

    private void list() {
        requests().children(lockPath(), false, (code, names) -> {
            if (hasNode()) { // otherwise the create before it has failed, and goes another way
                listed(code, names, false);
            }
        });
    }

    private void created(String made, Stat stat, boolean listing) {
        token = stat.getCzxid();
        LastHolds.Hold last = session().lastHolds().take(lockPath());
        if (!foundNode(made)) {
            return;
        }
        if (last != null && last.isRightBefore(number(), token)) {
            inARow = last.inARow() + 1;
            first();
        } else if (!listing) {
            list();
        }
    }

    /** The number of the node; negative if it does not tell its place. */
    private int number() {
        QueueNode node = QueueNode.parse(Names.last(path()));
        return node != null && node.isCounted() ? node.number() : -1;
    }

    @Override
    final void deleted() {
        if (grant() == null || mode != LockMode.EXCLUSIVE) {
            return;
        }
        int number = number();
        if (number >= 0) {
            session().lastHolds().ended(new LastHolds.Hold(lockPath(), number, token, inARow));
        }
    }

    private void notCreated(Code code, int missingParents) {
        if (code == Code.NONODE && missingParents < MOST_PARENTS) {
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
        for (QueueNode node : QueueNode.queue(names, Map.of())) {
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
    final boolean goOn(Code code, Runnable again) {
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
}
