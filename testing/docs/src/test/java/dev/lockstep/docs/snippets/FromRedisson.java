package dev.lockstep.docs.snippets;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockOptions;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Redisson's code and ours. */
final class FromRedisson {
    private FromRedisson() {}

    static void theirs(Runnable work, Work fenced) throws InterruptedException {
        // tag::redisson-theirs
        Config config = new Config();
        config.useSingleServer().setAddress("redis://localhost:6379");
        RedissonClient redisson = Redisson.create(config);

        RLock lock = redisson.getLock("order:42");
        if (lock.tryLock(2, TimeUnit.SECONDS)) {
            try {
                work.run();
            } finally {
                lock.unlock();
            }
        }

        RLock turns = redisson.getFairLock("queue");
        RLock both = redisson.getMultiLock(redisson.getLock("a"), redisson.getLock("b"));
        RFencedLock counter = redisson.getFencedLock("counter");
        Long token = counter.lockAndGetToken();
        // end::redisson-theirs
        fenced.run(token);
        turns.lock();
        both.lock();
    }

    static void ours(String url, Runnable work, Work fenced) throws InterruptedException {
        // tag::redisson-ours
        LockClient locks = LockClient.connect(url); // redis://localhost:6379

        DistributedLock lock = locks.lock("order:42");
        if (lock.tryLock(2, TimeUnit.SECONDS)) {
            try {
                work.run();
            } finally {
                lock.unlock(); // throws LockLostException if the lock was lost meanwhile
            }
        }

        DistributedLock turns = locks.lock("queue", LockOptions.defaults().fair());
        DistributedLock both = locks.multiLock("a", "b");
        Optional<Lease> counter = locks.lock("counter").tryAcquire(Duration.ofSeconds(2));
        if (counter.isPresent()) {
            try (Lease lease = counter.get()) {
                fenced.run(lease.token()); // every lock has a token
            }
        }
        // end::redisson-ours
        turns.lock();
        turns.unlock();
        both.lock();
        both.unlock();
        locks.close();
    }

    /** Work with a token. */
    interface Work {
        void run(long token);
    }
}
