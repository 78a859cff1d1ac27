package dev.lockstep.benchmarks.peers.zookeeper;

import dev.lockstep.benchmarks.worker.Contender;
import java.net.URI;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;

/** Curator's InterProcessMutex, or its semaphore or read-write lock; one object for all threads of a client. */
public final class Curator implements Contender {
    private static final int SESSION_MILLIS = 30_000;

    private final String variant;

    /**
     * Makes it.
     *
     * @param variant {@code semaphore}, {@code read-write}, or nothing
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
