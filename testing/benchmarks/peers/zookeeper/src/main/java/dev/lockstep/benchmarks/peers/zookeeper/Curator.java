package dev.lockstep.benchmarks.peers.zookeeper;

import dev.lockstep.benchmarks.worker.Contender;
import java.net.URI;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreMutex;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.retry.ExponentialBackoffRetry;

/**
 * Curator's InterProcessMutex, or its mutex by a semaphore, its read-write lock or its InterProcessSemaphoreV2, one object for
 * all threads of a client; or its LeaderLatch, one for each term.
 */
public final class Curator implements Contender {
    private static final int SESSION_MILLIS = 30_000;

    private final String variant;

    /**
     * Makes it.
     *
     * @param variant {@code semaphore}, {@code read-write}, {@code permits}, {@code latch}, or nothing
     */
    public Curator(String variant) {
        this.variant = variant;
    }

    @Override
    public Client open(String url) {
        CuratorFramework curator = CuratorFrameworkFactory.builder()
                .connectString(URI.create(url).getAuthority())
                .sessionTimeoutMs(SESSION_MILLIS)
                .retryPolicy(new ExponentialBackoffRetry(100, 3))
                .build();
        curator.start();
        return new Client() {
            @Override
            public Mutex mutex(String name) {
                String path = "/curator/" + name;
                if (variant.equals("permits")) {
                    InterProcessSemaphoreV2 semaphore = new InterProcessSemaphoreV2(curator, path, PERMITS);
                    return Mutex.of(semaphore::acquire, semaphore::returnLease);
                }
                if (variant.equals("latch")) {
                    return Mutex.of(() -> lead(curator, path), LeaderLatch::close);
                }
                return of(
                        switch (variant) {
                            case "semaphore" -> new InterProcessSemaphoreMutex(curator, path);
                            case "read-write" -> new InterProcessReadWriteLock(curator, path).writeLock();
                            default -> new InterProcessMutex(curator, path);
                        });
            }

            @Override
            public Mutex readMutex(String name) {
                return of(new InterProcessReadWriteLock(curator, "/curator/" + name).readLock());
            }

            @Override
            public void close() {
                curator.close();
            }
        };
    }

    private static LeaderLatch lead(CuratorFramework curator, String path) throws Exception {
        LeaderLatch latch = new LeaderLatch(curator, path);
        latch.start();
        latch.await();
        return latch;
    }

    private static Contender.Mutex of(InterProcessLock lock) {
        return new Mutex() {
            @Override
            public void lock() throws Exception {
                lock.acquire();
            }

            @Override
            public void unlock() throws Exception {
                lock.release();
            }
        };
    }
}
