package dev.lockstep.docs.snippets;

import dev.lockstep.DistributedReadWriteLock;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.retry.ExponentialBackoffRetry;

/** Curator's code and ours. */
final class FromCurator {
    private FromCurator() {}

    static void theirs(Runnable work) throws Exception {
        // tag::curator-theirs
        CuratorFramework curator =
                CuratorFrameworkFactory.newClient("localhost:2181", new ExponentialBackoffRetry(100, 3));
        curator.start();

        InterProcessMutex mutex = new InterProcessMutex(curator, "/locks/order-42");
        if (mutex.acquire(2, TimeUnit.SECONDS)) {
            try {
                work.run();
            } finally {
                mutex.release();
            }
        }

        InterProcessReadWriteLock prices = new InterProcessReadWriteLock(curator, "/locks/prices");
        prices.readLock().acquire();
        // end::curator-theirs
    }

    static void ours(String url, Runnable work) throws InterruptedException {
        // tag::curator-ours
        LockClient locks = LockClient.connect(url); // zookeeper://localhost:2181

        Optional<Lease> maybe = locks.lock("order:42").tryAcquire(Duration.ofSeconds(2));
        if (maybe.isPresent()) {
            try (Lease lease = maybe.get()) { // lease.token(), lease.onLost(…), lease.isValid()
                work.run();
            }
        }

        DistributedReadWriteLock prices = locks.readWriteLock("prices");
        prices.readLock().lock();
        // end::curator-ours
        prices.readLock().unlock();
        locks.close();
    }
}
