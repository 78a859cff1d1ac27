package dev.lockstep.zookeeper;

import dev.lockstep.LockMode;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * An attempt without a queue: one node for the lock, which only one client can make. Each try makes it and reads it, in
 * one round trip: the reader learns who has it, and watches it either way. When it goes, all that wait try again.
 */
final class PlainAttempt extends Attempt {
    private static final int MOST_PARENTS = 2;

    /** How long a claim that must let others go first holds back. */
    private static final long POLITE_NANOS = 10_000_000;

    private final boolean first;
    private boolean made;
    private int tries;

    PlainAttempt(NodeClaim claim, Session session, String key, int reserved, int number) {
        super(claim, session, key, reserved);
        this.first = number == 1;
    }

    @Override
    void ask() {
        if (first && !request().mayBarge()) {
            claim().backend().scheduler().schedule(POLITE_NANOS, this::tryNow);
            claim().asksLater();
        } else {
            tryNow();
        }
    }

    private void tryNow() {
        create(0);
    }

    private void create(int missingParents) {
        if (!beginAsking()) {
            return;
        }
        int round = ++tries;
        watch(lockPath());
        byte[] data = data(LockMode.EXCLUSIVE).bytes();
        requests()
                .create(
                        lockPath(),
                        data,
                        CreateMode.EPHEMERAL,
                        missingParents,
                        (code, path, stat) -> created(code, missingParents));
        requests().data(lockPath(), true, (code, found, stat) -> {
            // Not that of an earlier try, which may come late: its thread and the event thread can overtake each other.
            if (made && round == tries) {
                read(code, found, stat);
            }
        });
    }

    private void created(Code code, int missingParents) {
        // The node is there, ours or another's: the read that follows tells.
        made = code == Code.OK || code == Code.NODEEXISTS && missingParents == 0;
        if (made) {
            return;
        }
        if (code == Code.NONODE && missingParents < MOST_PARENTS) {
            create(missingParents + 1);
        } else if (code == Code.NODEEXISTS) {
            create(missingParents - 1);
        } else if (Replies.isEnd(code)) {
            foundNothing();
        } else if (Replies.mayRetry(code)) {
            session().retry(code, this::tryAfterLoss);
        } else {
            fail("make", lockPath(), code);
        }
    }

    /** Looks first: a node that was made without an answer must be found even if nobody wants the lock any more. */
    private void tryAfterLoss() {
        requests().sync(synced -> {
            if (goOn(synced)) {
                requests().data(lockPath(), true, this::read);
            }
        });
    }

    private boolean goOn(Code code) {
        if (code == Code.OK) {
            return true;
        }
        if (Replies.isEnd(code)) {
            foundNothing();
        } else if (Replies.mayRetry(code)) {
            session().retry(code, this::tryAfterLoss);
        } else {
            fail("read", lockPath(), code);
        }
        return false;
    }

    private void read(Code code, byte @Nullable [] data, Stat stat) {
        if (grant() != null) {
            return;
        }
        if (code == Code.NONODE) {
            tryNow();
        } else if (goOn(code)) {
            if (isMine(data, stat)) {
                if (foundNode(lockPath())) {
                    grant(stat.getCzxid());
                }
            } else if (stat.getEphemeralOwner() == 0) {
                removeEmptyQueue();
            } else if (foundNothing()) {
                if (request().mayWait()) {
                    claim().waits();
                } else {
                    claim().busy(this, abandon());
                }
            }
        }
    }

    private boolean isMine(byte @Nullable [] data, Stat stat) {
        return stat.getEphemeralOwner() == session().id()
                && NodeData.parse(data, Operator.created(stat)).claim().equals(key());
    }

    /** Looks first: the node may have been taken away, and be another's by now, before this client hears of it. */
    @Override
    void deleteNode() {
        deleteIfMine(false);
    }

    /** Looks first: if the node went by the last try, one of that name is another's now. */
    @Override
    void deleteAgain() {
        deleteIfMine(true);
    }

    private void deleteIfMine(boolean again) {
        Code[] synced = {Code.SYSTEMERROR};
        requests().sync(code -> synced[0] = code);
        requests().data(lockPath(), false, (code, data, stat) -> {
            if (synced[0] != Code.OK) {
                notDeleted(synced[0], () -> deleteIfMine(again));
            } else if (code == Code.OK && isMine(data, stat)) {
                delete(again);
            } else if (code == Code.OK || code == Code.NONODE) {
                gone(again);
            } else {
                notDeleted(code, () -> deleteIfMine(again));
            }
        });
    }

    /** The node is a queue's, which the server would remove if it stayed empty. */
    private void removeEmptyQueue() {
        requests().delete(lockPath(), code -> {
            if (code == Code.OK || code == Code.NONODE) {
                tryNow();
            } else if (goOn(code)) {
                throw new AssertionError(code);
            }
        });
    }

    private void grant(long token) {
        if (!session().isValid()) {
            session().whenValid(this::tryAfterLoss);
            return;
        }
        NodeGrant won = win(token, LockMode.EXCLUSIVE);
        claim().granted(this, won);
        if (isOver()) {
            stopWatching();
            session().grants().remove(won);
        }
    }

    @Override
    void lookAgain() {
        if (grant() == null && isIdle()) {
            tryNow();
        }
    }

    @Override
    public void changed(String node, EventType type) {
        if (grant() != null) {
            changedWhileHeld(type);
        } else if (isIdle()) {
            tryNow();
        }
    }

    private void changedWhileHeld(EventType type) {
        if (isOver()) {
            return;
        }
        if (type == EventType.NodeDeleted) {
            nodeGone();
        } else {
            requests().data(lockPath(), true, (code, data, stat) -> {
                if (code == Code.NONODE && !isOver()) {
                    nodeGone();
                }
            });
        }
    }

    @Override
    void stopWatching() {
        session().watches().remove(lockPath(), this);
    }
}
