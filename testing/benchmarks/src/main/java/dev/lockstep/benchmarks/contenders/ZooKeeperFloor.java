package dev.lockstep.benchmarks.contenders;

import dev.lockstep.benchmarks.worker.Contender;
import java.net.URI;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;

/** ZooKeeper's own client with two requests: one makes an ephemeral node, one deletes it. Nobody waits. */
public final class ZooKeeperFloor implements Contender {
    private static final int SESSION_MILLIS = 30_000;

    /**
     * Makes it.
     *
     * @param variant there is none
     */
    public ZooKeeperFloor(String variant) {}

    @Override
    public Client open(String url) throws Exception {
        ZooKeeper session = new ZooKeeper(URI.create(url).getAuthority(), SESSION_MILLIS, event -> {});
        return new Client() {
            @Override
            public Mutex mutex(String name) {
                String path = "/floor-" + name;
                byte[] data = new byte[0];
                return new Mutex() {
                    @Override
                    public void lock() throws Exception {
                        session.create(path, data, Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
                    }

                    @Override
                    public void unlock() throws Exception {
                        session.delete(path, -1);
                    }
                };
            }

            @Override
            public void close() throws InterruptedException {
                session.close();
            }
        };
    }
}
