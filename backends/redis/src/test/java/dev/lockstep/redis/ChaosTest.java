package dev.lockstep.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockLostException;
import dev.lockstep.LockOptions;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Many things go wrong at once, for a while: {@code redis.chaos.seconds}, and longer in the profile {@code full}. */
@Timeout(1_000)
class ChaosTest {
    private static final Duration DURATION = Duration.ofSeconds(Integer.getInteger("redis.chaos.seconds", 8));
    private static final int CLIENTS = 4;

    private final Queue<String> violations = new ConcurrentLinkedQueue<>();
    private volatile boolean over;

    /** One lock, who is inside, and the highest token seen there. */
    private final class Room {
        private final LockOptions options;
        private final String name;
        private final AtomicReference<Lease> inside = new AtomicReference<>();
        private final AtomicLong highest = new AtomicLong();
        private final AtomicLong visits = new AtomicLong();

        Room(LockOptions options) {
            this.options = options;
            this.name = "room-" + options.isFair();
        }

        void visit(LockClient client, Random random) throws InterruptedException {
            DistributedLock lock = client.lock(name, options);
            try {
                Optional<Lease> maybe = lock.tryAcquire(Duration.ofMillis(random.nextInt(400)));
                if (maybe.isPresent()) {
                    try (Lease lease = maybe.get()) {
                        enter(lease);
                    }
                }
            } catch (LockUnavailableException | LockLostException e) {
                // Told, which is all that is asked.
            }
        }

        private void enter(Lease lease) {
            long token = lease.token();
            long before = highest.getAndAccumulate(token, Math::max);
            Lease other = inside.getAndSet(lease);
            // Looked at in this order: the one who is inside may leave, but does not become valid again.
            if (other != null && other.isValid() && lease.isValid() && inside.get() == lease) {
                violations.add(name + ": two at once, " + token);
            }
            if (token <= before && lease.isValid()) {
                violations.add(name + ": token " + token + " after " + before);
            }
            LockSupport.parkNanos(500_000);
            inside.compareAndSet(lease, null);
            visits.incrementAndGet();
        }
    }

    @Test
    void nobodyMeetsAnybodyWhateverBreaks() throws Exception {
        Bench bench = new Bench(Servers.require(() -> RedisServer.builder().start()));
        try (bench) {
            List<Room> rooms = List.of(
                    new Room(LockOptions.defaults()),
                    new Room(LockOptions.defaults().fair()));
            List<TcpProxy> proxies = new ArrayList<>();
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                TcpProxy proxy = bench.proxy();
                proxies.add(proxy);
                LockClient client = bench.client(proxy, "?waiterExpiry=1s");
                for (int t = 0; t < 2; t++) {
                    Random random = new Random(10L * i + t);
                    threads.add(new Thread(() -> work(rooms, client, random)));
                }
            }
            threads.forEach(Thread::start);
            breakThings(bench, proxies, new Random(4711));
            over = true;
            for (Thread thread : threads) {
                thread.join();
            }
            assertThat(violations).isEmpty();
            assertThat(rooms).allMatch(room -> room.visits.get() > 50);
            Bench.await(
                    "nothing is left but word of claims that are gone",
                    () -> bench.keysInUse().stream().allMatch(key -> key.endsWith(":gone")));
        }
    }

    private void work(List<Room> rooms, LockClient client, Random random) {
        try {
            while (!over) {
                rooms.get(random.nextInt(rooms.size())).visit(client, random);
            }
        } catch (InterruptedException | RuntimeException | Error e) {
            violations.add(e.toString());
        }
    }

    private static void breakThings(Bench bench, List<TcpProxy> proxies, Random random) {
        long start = System.nanoTime();
        while (System.nanoTime() - start < DURATION.toNanos()) {
            TcpProxy proxy = proxies.get(random.nextInt(proxies.size()));
            int pause = 20 + random.nextInt(200);
            switch (random.nextInt(7)) {
                case 0 -> bench.server().command("SCRIPT", "FLUSH");
                case 1 -> bench.server().command("CLIENT", "KILL", "TYPE", "pubsub");
                case 2 -> bench.server().command("CLIENT", "KILL", "TYPE", "normal");
                case 3 -> proxy.resetConnections();
                case 4 -> proxy.dropReplies();
                case 5 -> {
                    proxy.blackHole();
                    pause *= 5; // sometimes longer than a waiter's expiry
                }
                default -> proxy.dropNextReply();
            }
            Awaitility.await().pollDelay(Duration.ofMillis(pause)).until(() -> true);
            proxy.heal();
        }
    }
}
