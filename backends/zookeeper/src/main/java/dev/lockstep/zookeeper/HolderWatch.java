package dev.lockstep.zookeeper;

import dev.lockstep.spi.LockBackend;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher.Event.EventType;

/**
 * Notices that the holders of a lock may have changed: watches the node of the lock, and the nodes in its queue. A
 * watch of ZooKeeper fires once, so it is set again after each event, and in each new session. Safe for use by many
 * threads.
 */
final class HolderWatch implements Watches.Listener, LockBackend.Watch {
    private final ZooKeeperBackend backend;
    private final String path;
    private final Runnable changed;
    private volatile boolean closed;

    HolderWatch(ZooKeeperBackend backend, String path, Runnable changed) {
        this.backend = backend;
        this.path = path;
        this.changed = changed;
    }

    /** Sets the watch in the main session. */
    void set() {
        Session session = backend.session();
        session.watches().add(path, this);
        if (closed) {
            session.watches().remove(path, this);
            return;
        }
        if (!backend.isQueued()) {
            session.link().exists(path, true, code -> {});
            return;
        }
        session.link().children(path, true, (code, names) -> {
            if (code == Code.NONODE) {
                session.link().exists(path, true, created -> {
                    if (created == Code.OK && !closed) {
                        set(); // made between the two looks
                    }
                });
            }
        });
    }

    /** The session is connected again, or is a new one: something may have been missed. */
    void setAgain() {
        set();
        changed.run();
    }

    @Override
    public void changed(String node, EventType type) {
        if (!closed) {
            setAgain();
        }
    }

    @Override
    public void close() {
        closed = true;
        backend.sessions().remove(this);
        backend.session().watches().remove(path, this);
    }
}
