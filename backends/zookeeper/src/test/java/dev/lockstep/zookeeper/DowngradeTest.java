package dev.lockstep.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.DistributedReadWriteLock;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.ZooKeeperServer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A reader that waits for a writer learns that it has become a reader. */
@Timeout(120)
class DowngradeTest {
    /** A waiter also looks by itself, each third of this. */
    private static final Duration TTL = Duration.ofSeconds(60);

    /** Half of such a third: a waiter that is not woken is later than this, even on a busy machine. */
    private static final Duration SOON = TTL.dividedBy(6);

    @Test
    void aReaderIsWokenByADowngradeAndDoesNotWaitForItsNextLook() throws Exception {
        try (ZooKeeperServer server =
                        Servers.require(() -> ZooKeeperServer.builder().start());
                LockClient writing = connect(server);
                LockClient reading = connect(server)) {
            DistributedReadWriteLock locks = writing.readWriteLock("x");
            locks.writeLock().lock();
            CompletableFuture<Lease> reader =
                    reading.readWriteLock("x").readLock().acquireAsync();
            Awaitility.await()
                    .atMost(SOON)
                    .until(() -> writing.inspect("x").waiters().size() == 1);
            locks.readLock().lock();
            locks.writeLock().unlock();
            try (Lease read = reader.get(SOON.toMillis(), TimeUnit.MILLISECONDS)) {
                assertThat(read.isValid()).isTrue();
            }
            locks.readLock().unlock();
        }
    }

    private static LockClient connect(ZooKeeperServer server) {
        return LockClient.builder()
                .url("zookeeper://" + server.address())
                .ttl(TTL)
                .requestTimeout(Duration.ofSeconds(20))
                .connect();
    }
}
