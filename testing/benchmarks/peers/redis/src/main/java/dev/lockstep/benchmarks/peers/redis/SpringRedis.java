package dev.lockstep.benchmarks.peers.redis;

import dev.lockstep.benchmarks.worker.Contender;
import java.net.URI;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

/** Spring Integration's RedisLockRegistry over Lettuce, woken by publish and subscribe, with renewal. */
public final class SpringRedis implements Contender {
    /** As long as Lockstep's and Redisson's locks last; it renews after a third of that. */
    private static final long TTL_MILLIS = 30_000;

    /** It forgets the oldest of more locks than this. */
    private static final int LOCKS = 100_000;

    /**
     * Makes it.
     *
     * @param variant there is none
     */
    public SpringRedis(String variant) {}

    /** Names share 256 locks inside the process: a thread that holds one of them keeps others from names that it does not hold. */
    @Override
    public int holders() {
        return 1;
    }

    @Override
    public Client open(String url) {
        URI uri = URI.create(url);
        LettuceConnectionFactory connections =
                new LettuceConnectionFactory(new RedisStandaloneConfiguration(uri.getHost(), uri.getPort()));
        connections.afterPropertiesSet();
        connections.start();
        ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();
        scheduler.setPoolSize(2);
        scheduler.afterPropertiesSet();
        RedisLockRegistry registry = new RedisLockRegistry(connections, "spring", TTL_MILLIS);
        registry.setRedisLockType(RedisLockType.PUB_SUB_LOCK);
        registry.setRenewalTaskScheduler(scheduler);
        registry.setCacheCapacity(LOCKS);
        return new Client() {
            @Override
            public Mutex mutex(String name) {
                return Mutex.of(registry.obtain(name));
            }

            @Override
            public void close() {
                registry.destroy();
                scheduler.destroy();
                connections.destroy();
            }
        };
    }
}
