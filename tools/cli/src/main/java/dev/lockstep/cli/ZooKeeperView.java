package dev.lockstep.cli;

import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.NoNodeException;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZKUtil;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;

/** The nodes of ZooKeeper. */
final class ZooKeeperView implements EngineView {
    private static final int TIMEOUT_MILLIS = 30_000;

    private final ZooKeeper zooKeeper;
    private final String root;
    private final Labels labels;

    private record Node(String path, String data, Stat stat) {}

    ZooKeeperView(String url, String namespace, Labels labels) throws IOException, InterruptedException {
        String address = url.replaceFirst("^zookeeper://", "").replaceFirst("\\?.*", "");
        int at = address.lastIndexOf('@');
        CountDownLatch connected = new CountDownLatch(1);
        this.zooKeeper = new ZooKeeper(address.substring(at + 1), TIMEOUT_MILLIS, event -> {
            if (event.getState() == KeeperState.SyncConnected) {
                connected.countDown();
            }
        });
        if (at >= 0) {
            String user = URLDecoder.decode(address.substring(0, at), StandardCharsets.UTF_8);
            zooKeeper.addAuthInfo("digest", user.getBytes(StandardCharsets.UTF_8));
        }
        this.root = "/lockstep/" + namespace;
        this.labels = labels;
        if (!connected.await(TIMEOUT_MILLIS, TimeUnit.MILLISECONDS)) {
            zooKeeper.close();
            throw new Refusal(ExitCodes.UNAVAILABLE, "ZooKeeper did not answer");
        }
    }

    @Override
    public List<String> look() throws KeeperException, InterruptedException {
        List<Node> nodes = new ArrayList<>();
        read(root, nodes);
        nodes.sort(Comparator.comparingLong(node -> node.stat.getCzxid()));
        List<String> lines = new ArrayList<>();
        nodes.forEach(node -> show(node, lines));
        return lines;
    }

    private void read(String path, List<Node> nodes) throws KeeperException, InterruptedException {
        try {
            Stat stat = new Stat();
            byte[] data = zooKeeper.getData(path, false, stat);
            nodes.add(new Node(path, data == null ? "" : new String(data, StandardCharsets.UTF_8), stat));
            for (String child : zooKeeper.getChildren(path, false)) {
                read(path + "/" + child, nodes);
            }
        } catch (NoNodeException e) {
            // The node does not exist, or no longer exists.
        }
    }

    /** Only claims belong to a session. The container of a semaphore has the slots. */
    private void show(Node node, List<String> lines) {
        long session = node.stat.getEphemeralOwner();
        if (session == 0 || session == Long.MIN_VALUE) { // persistent, or a container
            lines.add(labels.text(node.path));
            lines.addAll(node.path.equals(root) ? List.of() : labels.news(node.path, node.data));
            return;
        }
        String facts = "  (czxid " + labels.token(node.stat.getCzxid()) + ", ephemeral, session "
                + labels.session(session) + ")";
        lines.add(labels.text(node.path) + facts);
        lines.addAll(labels.news(node.path, node.data));
    }

    /** Removes the namespace, since nothing else removes it. */
    @Override
    public void close() throws KeeperException, InterruptedException {
        try {
            ZKUtil.deleteRecursive(zooKeeper, root);
        } catch (NoNodeException e) {
            // It did not come so far.
        } finally {
            zooKeeper.close();
        }
    }
}
