package dev.lockstep.docs.snippets;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.params.SetParams;

/** The lock that people write with Jedis, and ours. */
final class FromJedis {
    private FromJedis() {}

    static void theirs(Runnable work) {
        // tag::jedis-theirs
        RedisClient jedis = RedisClient.create("localhost", 6379);
        String owner = UUID.randomUUID().toString();
        if ("OK".equals(jedis.set("order:42", owner, SetParams.setParams().nx().px(30_000)))) {
            try {
                work.run(); // if it takes 31 seconds, another process is in here, too, and nobody notices
            } finally {
                jedis.eval(
                        "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end",
                        List.of("order:42"),
                        List.of(owner));
            }
        }
        // end::jedis-theirs
    }

    static void ours(String url, Runnable work) {
        // tag::jedis-ours
        LockClient locks = LockClient.connect(url); // redis://localhost:6379?queue=off for the very same algorithm
        Optional<Lease> maybe = locks.lock("order:42").tryAcquire();
        if (maybe.isPresent()) {
            try (Lease lease = maybe.get()) { // renewed while it is held; lease.token() for storage
                work.run();
            }
        }
        // end::jedis-ours
        locks.close();
    }
}
