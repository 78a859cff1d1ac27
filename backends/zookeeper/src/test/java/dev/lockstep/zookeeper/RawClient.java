package dev.lockstep.zookeeper;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;

/** An operator with ZooKeeper's own shell, and whatever else is not Lockstep. */
final class RawClient implements AutoCloseable {
    private final ZooKeeper handle;

    RawClient(String connectString) throws IOException, InterruptedException {
        CountDownLatch connected = new CountDownLatch(1);
        handle = new ZooKeeper(connectString, 30_000, event -> {
            if (event.getState() == Watcher.Event.KeeperState.SyncConnected) {
                connected.countDown();
            }
        });
        connected.await();
    }

    ZooKeeper handle() {
        return handle;
    }

    /** Makes a node, and its parents where they are missing. */
    String create(String path, String data, CreateMode mode) throws KeeperException, InterruptedException {
        String parent = Keys.parent(path);
        if (!parent.isEmpty() && handle.exists(parent, false) == null) {
            create(parent, "", CreateMode.PERSISTENT);
        }
        return handle.create(path, data.getBytes(), ZooDefs.Ids.OPEN_ACL_UNSAFE, mode);
    }

    void delete(String path) throws KeeperException, InterruptedException {
        handle.delete(path, -1);
    }

    /** The names of a node's children; none if there is no such node. */
    List<String> children(String path) throws KeeperException, InterruptedException {
        handle.sync(path);
        try {
            return handle.getChildren(path, false);
        } catch (KeeperException.NoNodeException e) {
            return List.of();
        }
    }

    Stat stat(String path) throws KeeperException, InterruptedException {
        return handle.exists(path, false);
    }

    @Override
    public void close() throws InterruptedException {
        handle.close();
    }
}
