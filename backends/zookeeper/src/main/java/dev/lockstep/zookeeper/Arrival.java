package dev.lockstep.zookeeper;

import java.util.List;
import java.util.Map;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;

/**
 * How a claim arrives in a queue: makes its node, with parents that are missing, and lists the queue in the same round trip,
 * unless the session's {@link LastHolds} make that needless. A node that was made without an answer is found again. The
 * {@link QueueRecipe} does the rest.
 */
final class Arrival {
    private static final int MOST_PARENTS = 3;

    private final ClaimNode node;
    private final QueueRecipe queue;
    private long token; // only touched by the event thread, as the next
    private int inARow;

    Arrival(ClaimNode node, QueueRecipe queue) {
        this.node = node;
        this.queue = queue;
    }

    /** The transaction that made the node. */
    long token() {
        return token;
    }

    void ask() {
        create(0);
    }

    private void create(int missingParents) {
        if (!node.beginAsking()) {
            return;
        }
        boolean list = missingParents > 0 || !node.session().lastHolds().isAlone(node.lockPath());
        String prefix = node.lockPath() + "/" + QueueNode.prefix(ClaimKind.of(node.request()), node.key());
        node.link()
                .create(
                        prefix,
                        node.data(node.request().mode()).bytes(),
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
        node.link().children(node.lockPath(), false, (code, names) -> {
            if (node.hasNode()) { // otherwise the create before it has failed, and is handled elsewhere
                queue.listed(code, names, false);
            }
        });
    }

    private void created(String made, Stat stat, boolean listing) {
        token = stat.getCzxid();
        LastHolds.Hold last = node.session().lastHolds().take(node.lockPath());
        if (!node.foundNode(made)) {
            return;
        }
        if (last != null && last.isRightBefore(number(), token)) {
            inARow = last.inARow() + 1;
            queue.first();
        } else if (!listing) {
            list();
        }
    }

    /** The number of the node; negative if it does not show its place. */
    private int number() {
        QueueNode own = QueueNode.parse(Keys.last(node.path()));
        return own != null && own.isCounted() ? own.number() : -1;
    }

    /** The node was there, and is deleted. */
    void deleted() {
        if (!queue.wasAlone()) {
            return;
        }
        int number = number();
        if (number >= 0) {
            node.session().lastHolds().ended(new LastHolds.Hold(node.lockPath(), number, token, inARow));
        }
    }

    private void notCreated(Code code, int missingParents) {
        if (code == Code.NONODE && missingParents < MOST_PARENTS) {
            create(missingParents + 1);
        } else if (code == Code.NODEEXISTS && missingParents > 0) {
            create(missingParents - 1);
        } else if (Failure.isEnd(code)) {
            node.foundNothing();
        } else if (Failure.mayRetry(code)) {
            node.session().retry(code, this::find);
        } else {
            node.fail("make a node in", node.lockPath(), code);
        }
    }

    /** Finds the node after its create was not answered, or makes it if there is none. */
    private void find() {
        node.link().sync(synced -> {
            if (node.checkReply(synced, this::find)) {
                node.link().children(node.lockPath(), false, (code, names) -> {
                    if (code == Code.NONODE) {
                        create(0);
                    } else if (node.checkReply(code, this::find)) {
                        find(names);
                    }
                });
            }
        });
    }

    private void find(List<String> names) {
        for (QueueNode found : QueueNode.queue(names, Map.of())) {
            if (found.key().equals(node.key())) {
                adopt(node.lockPath() + "/" + found.name());
                return;
            }
        }
        create(0);
    }

    private void adopt(String path) {
        node.link().data(path, false, (code, data, stat) -> {
            if (code == Code.NONODE
                    || code == Code.OK
                            && stat.getEphemeralOwner() != node.session().id()) {
                create(0);
            } else if (node.checkReply(code, this::find)) {
                token = stat.getCzxid();
                if (node.foundNode(path)) {
                    queue.look();
                }
            }
        });
    }
}
