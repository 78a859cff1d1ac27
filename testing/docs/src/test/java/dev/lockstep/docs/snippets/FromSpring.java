package dev.lockstep.docs.snippets;

import dev.lockstep.LockClient;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;

/** Spring Integration's code and ours. */
final class FromSpring {
    private FromSpring() {}

    static void theirs(RedisConnectionFactory redis, Runnable work) throws InterruptedException {
        // tag::spring-theirs
        RedisLockRegistry registry = new RedisLockRegistry(redis, "shop");
        Lock lock = registry.obtain("order:42");
        if (lock.tryLock(2, TimeUnit.SECONDS)) {
            try {
                work.run();
            } finally {
                lock.unlock();
            }
        }
        // end::spring-theirs
    }

    static void ours(String url, Runnable work) throws InterruptedException {
        // tag::spring-ours
        LockClient locks = LockClient.builder().url(url).namespace("shop").connect();
        Lock lock = locks.lock("order:42"); // a java.util.concurrent.locks.Lock too
        if (lock.tryLock(2, TimeUnit.SECONDS)) {
            try {
                work.run();
            } finally {
                lock.unlock();
            }
        }
        // end::spring-ours
        locks.close();
    }
}
