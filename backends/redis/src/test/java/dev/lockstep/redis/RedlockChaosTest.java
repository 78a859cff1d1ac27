package dev.lockstep.redis;

import dev.lockstep.LockClient;
import dev.lockstep.LockOptions;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Servers are killed, stopped, cut off and slowed down, never more than a minority at once, for a while: {@code
 * redis.chaos.seconds}, and longer in the profile {@code full}.
 */
@Tag("soak")
@Tag("full")
@Timeout(1_000)
class RedlockChaosTest {
    private static final Duration DURATION = Duration.ofSeconds(Integer.getInteger("redis.chaos.seconds", 8));
    private static final Duration TTL = Duration.ofMillis(1_500);
    private static final int SERVERS = 5;
    private static final int MINORITY = 2;
    private static final int CLIENTS = 3;

    private final Random random = new Random(4711);
    private final long[] weakUntilNanos = new long[SERVERS];
    private final List<List<TcpProxy>> proxiesOfClients = new ArrayList<>();

    @Test
    void nobodyMeetsAnybodyWhateverHappensToAMinority() throws Exception {
        try (Redlocks set = Redlocks.start(SERVERS)) {
            Crowd crowd = new Crowd(new Room(LockOptions.defaults()));
            List<LockClient> clients = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                List<TcpProxy> proxies = set.proxies();
                proxiesOfClients.add(proxies);
                clients.add(set.client(proxies, TTL, Duration.ofSeconds(3)));
            }
            Arrays.fill(weakUntilNanos, System.nanoTime());
            clients.forEach(crowd::join);
            long start = System.nanoTime();
            while (System.nanoTime() - start < DURATION.toNanos()) {
                breakSome(set);
            }
            crowd.awaitVisits(20);
            crowd.end(20);
            for (LockClient client : clients) {
                client.lock("room-false")
                        .acquireAsync()
                        .get(20, TimeUnit.SECONDS)
                        .close();
            }
            Bench.await(
                    "nothing is left",
                    () -> set.field("lockstep:{lockstep:room-false}", "owner").stream()
                            .allMatch(String::isEmpty));
        }
    }

    /** Breaks as many servers as may be broken, beside those that were started too recently to vote. */
    private void breakSome(Redlocks set) {
        long now = System.nanoTime();
        List<Integer> strong = new ArrayList<>(IntStream.range(0, SERVERS)
                .filter(i -> weakUntilNanos[i] - now <= 0)
                .boxed()
                .toList());
        Collections.shuffle(strong, random);
        int most = MINORITY - (SERVERS - strong.size());
        List<Runnable> heals = new ArrayList<>();
        for (int index : strong.subList(0, most > 0 ? 1 + random.nextInt(most) : 0)) {
            heals.add(breakOne(set.server(index), index));
        }
        Bench.letPass(Duration.ofMillis(50 + random.nextInt(600)));
        heals.forEach(Runnable::run);
    }

    /** Breaks a server, or the way of some or all clients to it; returns what ends that. */
    private Runnable breakOne(RedisServer server, int index) {
        int which = random.nextInt(8);
        if (which <= 1) {
            server.kill();
            return () -> {
                server.start();
                weakUntilNanos[index] = System.nanoTime() + TTL.plusSeconds(1).toNanos();
            };
        }
        if (which == 2) {
            server.pause();
            return server::resume;
        }
        if (which == 3) {
            server.command("SCRIPT", "FLUSH");
            server.command("CLIENT", "KILL", "TYPE", random.nextBoolean() ? "pubsub" : "normal");
            return () -> {};
        }
        boolean all = random.nextBoolean();
        List<TcpProxy> ways = proxiesOfClients.stream()
                .map(proxies -> proxies.get(index))
                .limit(all ? CLIENTS : 1)
                .toList();
        for (TcpProxy way : ways) {
            switch (which) {
                case 4 -> way.cut();
                case 5 -> way.blackHole();
                case 6 -> way.dropReplies();
                default -> way.delay(Duration.ofMillis(random.nextInt(400)));
            }
        }
        return () -> ways.forEach(way -> {
            way.delay(Duration.ZERO);
            way.heal();
        });
    }
}
