package dev.lockstep.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockOptions;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** The least that locks do on any set-up. */
final class Probe {
    private Probe() {}

    /** Two clients exclude each other, and the one that waits is woken. */
    static void works(LockClient first, LockClient second) throws Exception {
        for (LockOptions options : new LockOptions[] {
            LockOptions.defaults(), LockOptions.defaults().fair()
        }) {
            String name = "probe-" + options.isFair();
            DistributedLock lock = first.lock(name, options);
            DistributedLock rival = second.lock(name, options);
            Lease held = lock.acquire();
            long token = held.token();
            assertThat(rival.tryLock()).isFalse();
            CompletableFuture<Lease> waiting = rival.acquireAsync();
            while (second.inspect(name).waiters().isEmpty()) {
                assertThat(waiting).isNotDone();
            }
            held.close();
            try (Lease next = waiting.get(20, TimeUnit.SECONDS)) {
                assertThat(next.token()).isGreaterThan(token);
            }
        }
        first.readWriteLock("probe-shared").readLock().lock();
        assertThat(second.readWriteLock("probe-shared").readLock().tryLock()).isTrue();
        second.readWriteLock("probe-shared").readLock().unlock();
        assertThat(second.lock("probe-shared").tryLock()).isFalse();
        first.readWriteLock("probe-shared").readLock().unlock();
        assertThat(first.list("")).isEmpty();
    }
}
