package dev.lockstep.zookeeper;

import dev.lockstep.LockMode;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * The lock without a queue: one node for the lock, which only one client can make. Each try makes it and reads it, in one
 * round trip: the reader learns who has it, and watches it either way. When it goes, all that wait try again.
 */
final class PlainRecipe implements ClaimNode.Recipe {
    private static final int MOST_PARENTS = 2;

    /** How long a claim that must let others go first holds back. */
    private static final long POLITE_NANOS = 10_000_000;

    private final ClaimNode node;
    private final boolean first;
    private boolean made;
    private int tries;

    PlainRecipe(ClaimNode node, boolean first) {
        this.node = node;
        this.first = first;
    }

    @Override
    public void ask() {
        if (first && !node.request().mayBarge()) {
            node.claim().backend().scheduler().schedule(POLITE_NANOS, this::tryNow);
            node.claim().asksLater();
        } else {
            tryNow();
        }
    }

    private void tryNow() {
        create(0);
    }

    private void create(int missingParents) {
        if (!node.beginAsking()) {
            return;
        }
        int round = ++tries;
        node.watch(node.lockPath());
        byte[] data = node.data(LockMode.EXCLUSIVE).bytes();
        node.link()
                .create(
                        node.lockPath(),
                        data,
                        CreateMode.EPHEMERAL,
                        missingParents,
                        (code, path, stat) -> created(code, missingParents));
        node.link().data(node.lockPath(), true, (code, found, stat) -> {
            // Not that of an earlier try, which may come late: its thread and the event thread can overtake each other.
            if (made && round == tries) {
                read(code, found, stat);
            }
        });
    }

    private void created(Code code, int missingParents) {
        // The node is there, ours or another's: the read that follows shows which.
        made = code == Code.OK || code == Code.NODEEXISTS && missingParents == 0;
        if (made) {
            return;
        }
        if (code == Code.NONODE && missingParents < MOST_PARENTS) {
            create(missingParents + 1);
        } else if (code == Code.NODEEXISTS) {
            create(missingParents - 1);
        } else if (Failure.isEnd(code)) {
            node.foundNothing();
        } else if (Failure.mayRetry(code)) {
            node.session().retry(code, this::tryAfterLoss);
        } else {
            node.fail("make", node.lockPath(), code);
        }
    }

    /** Looks first: a node that was made without an answer must be found even if nobody wants the lock any more. */
    private void tryAfterLoss() {
        node.link().sync(synced -> {
            if (node.checkReply(synced, this::tryAfterLoss)) {
                node.link().data(node.lockPath(), true, this::read);
            }
        });
    }

    private void read(Code code, byte @Nullable [] data, Stat stat) {
        if (node.grant() != null) {
            return;
        }
        if (code == Code.NONODE) {
            tryNow();
        } else if (node.checkReply(code, this::tryAfterLoss)) {
            if (isMine(data, stat)) {
                if (node.foundNode(node.lockPath())) {
                    grant(stat.getCzxid());
                }
            } else if (stat.getEphemeralOwner() == 0) {
                removeEmptyQueue();
            } else if (node.foundNothing()) {
                if (node.request().mayWait()) {
                    node.claim().waits();
                } else {
                    node.claim().busy(node, node.abandon());
                }
            }
        }
    }

    private boolean isMine(byte @Nullable [] data, Stat stat) {
        return stat.getEphemeralOwner() == node.session().id()
                && NodeData.parse(data, SeenNode.created(stat)).claim().equals(node.key());
    }

    /** Looks first: an operator or the last try may have deleted the node, and it may be another's now. */
    @Override
    public void delete(boolean again) {
        Code[] synced = {Code.SYSTEMERROR};
        node.link().sync(code -> synced[0] = code);
        node.link().data(node.lockPath(), false, (code, data, stat) -> {
            if (synced[0] != Code.OK) {
                node.notDeleted(synced[0], () -> delete(again));
            } else if (code == Code.OK && isMine(data, stat)) {
                node.deleteNode(again);
            } else if (code == Code.OK || code == Code.NONODE) {
                node.gone(again);
            } else {
                node.notDeleted(code, () -> delete(again));
            }
        });
    }

    /** The node is a queue's, which the server would remove if it stayed empty. */
    private void removeEmptyQueue() {
        node.link().delete(node.lockPath(), code -> {
            if (code == Code.OK || code == Code.NONODE) {
                tryNow();
            } else if (node.checkReply(code, this::tryAfterLoss)) {
                throw new AssertionError(code);
            }
        });
    }

    private void grant(long token) {
        if (!node.mayWin(this::tryAfterLoss)) {
            return;
        }
        node.won(node.win(token, LockMode.EXCLUSIVE));
    }

    @Override
    public void lookAgain() {
        if (node.grant() == null && node.isIdle()) {
            tryNow();
        }
    }

    @Override
    public void checkBlocker() {
        if (node.grant() == null && node.isIdle()) {
            node.link().data(node.lockPath(), true, (code, data, stat) -> {
                if (code == Code.NONODE) {
                    lookAgain();
                }
            });
        }
    }

    @Override
    public void changed(String path, EventType type) {
        if (node.grant() != null) {
            changedWhileHeld(type);
        } else if (node.isIdle()) {
            tryNow();
        }
    }

    private void changedWhileHeld(EventType type) {
        if (node.isOver()) {
            return;
        }
        if (type == EventType.NodeDeleted) {
            node.nodeGone();
        } else {
            node.link().data(node.lockPath(), true, (code, data, stat) -> {
                if (code == Code.NONODE && !node.isOver()) {
                    node.nodeGone();
                }
            });
        }
    }

    @Override
    public void stopWatching() {
        node.unwatch(node.lockPath());
    }
}
