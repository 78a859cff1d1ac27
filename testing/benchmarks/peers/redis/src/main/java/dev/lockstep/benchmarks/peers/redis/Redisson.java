package dev.lockstep.benchmarks.peers.redis;

import dev.lockstep.benchmarks.worker.Contender;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Redisson with its defaults, which renew a lock every ten seconds: RLock, or its fair, fenced or read-write lock. */
public final class Redisson implements Contender {
    private final String variant;

    /**
     * Makes it.
     *
     * @param variant {@code fair}, {@code fenced}, {@code read-write}, or nothing
     */
    public Redisson(String variant) {
        this.variant = variant;
    }

    @Override
    public Client open(String url) {
        Config config = new Config();
        config.useSingleServer().setAddress(url);
        RedissonClient redisson = org.redisson.Redisson.create(config);
        return new Client() {
            @Override
            public Mutex mutex(String name) {
                return Mutex.of(
                        switch (variant) {
                            case "fair" -> redisson.getFairLock(name);
                            case "fenced" -> redisson.getFencedLock(name);
                            case "read-write" -> redisson.getReadWriteLock(name).writeLock();
                            default -> redisson.getLock(name);
                        });
            }

            @Override
            public Mutex readMutex(String name) {
                return Mutex.of(redisson.getReadWriteLock(name).readLock());
            }

            @Override
            public void close() {
                redisson.shutdown();
            }
        };
    }
}
