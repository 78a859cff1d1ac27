package dev.lockstep.benchmarks.peers.redis;

import dev.lockstep.benchmarks.worker.Contender;
import java.util.List;
import org.redisson.api.RLock;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * Redisson with its defaults, which renew a lock every ten seconds: RLock, or its fair, fenced or read-write lock; or its
 * semaphores, of which nothing is renewed.
 */
public final class Redisson implements Contender {
    private final String variant;

    /**
     * Makes it.
     *
     * @param variant {@code fair}, {@code fenced}, {@code read-write}, {@code semaphore}, {@code expirable}, or nothing
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
                if (variant.equals("semaphore")) {
                    return permits(redisson.getSemaphore(name));
                }
                if (variant.equals("expirable")) {
                    return permits(redisson.getPermitExpirableSemaphore(name));
                }
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
            public Mutex multiMutex(List<String> names) {
                return Mutex.of(redisson.getMultiLock(
                        names.stream().map(redisson::getLock).toArray(RLock[]::new)));
            }

            @Override
            public void close() {
                redisson.shutdown();
            }
        };
    }

    private static Mutex permits(RSemaphore semaphore) {
        semaphore.trySetPermits(PERMITS);
        return new Mutex() {
            @Override
            public void lock() throws InterruptedException {
                semaphore.acquire();
            }

            @Override
            public void unlock() {
                semaphore.release();
            }
        };
    }

    private static Mutex permits(RPermitExpirableSemaphore semaphore) {
        semaphore.trySetPermits(PERMITS);
        return Mutex.of(semaphore::acquire, semaphore::release);
    }
}
