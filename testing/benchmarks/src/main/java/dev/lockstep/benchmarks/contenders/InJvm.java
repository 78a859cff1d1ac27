package dev.lockstep.benchmarks.contenders;

import dev.lockstep.benchmarks.worker.Contender;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/** The JDK's own locks: what a lock of one process costs. */
public final class InJvm implements Contender {
    private static final Map<String, ReentrantLock> LOCKS = new ConcurrentHashMap<>();
    private static final Map<String, ReentrantReadWriteLock> READ_WRITE = new ConcurrentHashMap<>();

    private final boolean readWrite;

    /**
     * Makes it.
     *
     * @param variant {@code read-write}, or nothing
     */
    public InJvm(String variant) {
        readWrite = variant.equals("read-write");
    }

    @Override
    public Client open(String url) {
        return new Client() {
            @Override
            public Mutex mutex(String name) {
                return Mutex.of(
                        readWrite
                                ? both(name).writeLock()
                                : LOCKS.computeIfAbsent(name, unused -> new ReentrantLock()));
            }

            @Override
            public Mutex readMutex(String name) {
                return Mutex.of(both(name).readLock());
            }

            private ReentrantReadWriteLock both(String name) {
                return READ_WRITE.computeIfAbsent(name, unused -> new ReentrantReadWriteLock());
            }

            @Override
            public void close() {}
        };
    }
}
