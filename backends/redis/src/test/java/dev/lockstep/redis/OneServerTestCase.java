package dev.lockstep.redis;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockOptions;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.Servers;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;

/** Tests with a server of their own each, and one lock. */
abstract class OneServerTestCase {
    static final String NAME = "order:42";
    static final String KEY = "lockstep:{lockstep:order:42}";
    static final LockOptions FAIR = LockOptions.defaults().fair();

    private Bench bench;

    final Bench bench(RedisServer.Builder builder) {
        bench = new Bench(Servers.require(builder::start));
        return bench;
    }

    final Bench bench() {
        return bench(RedisServer.builder());
    }

    @AfterEach
    final void stop() throws Exception {
        if (bench != null) {
            bench.close();
        }
    }

    static CompletableFuture<Lease> waiter(LockClient client, LockClient observer) {
        CompletableFuture<Lease> waiting = client.lock(NAME).acquireAsync();
        Bench.awaitWaiters(observer, NAME, 1);
        return waiting;
    }

    static void serves(CompletableFuture<Lease> waiting, Duration within) throws Exception {
        waiting.get(within.toMillis(), TimeUnit.MILLISECONDS).close();
    }
}
