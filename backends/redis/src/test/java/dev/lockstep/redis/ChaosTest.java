package dev.lockstep.redis;

import dev.lockstep.LockOptions;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Many things go wrong at once, for {@code redis.chaos.seconds}. */
@Tag("soak")
@Tag("full")
@Timeout(1_000)
class ChaosTest {
    private static final Duration DURATION = Duration.ofSeconds(Integer.getInteger("redis.chaos.seconds", 8));
    private static final int CLIENTS = 4;

    @Test
    void nobodyMeetsAnybodyWhateverBreaks() throws Exception {
        Bench bench = new Bench(Servers.require(() -> RedisServer.builder().start()));
        try (bench) {
            Crowd crowd = new Crowd(
                    new Room(LockOptions.defaults()),
                    new Room(LockOptions.defaults().fair()));
            List<TcpProxy> proxies = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                TcpProxy proxy = bench.proxy();
                proxies.add(proxy);
                crowd.join(bench.client(proxy, "?waiterExpiry=1s"));
            }
            breakThings(bench, proxies, new Random(4711));
            crowd.awaitVisits(50);
            crowd.end(50);
            Bench.await(
                    "nothing is left but word of claims that are gone",
                    () -> bench.keysInUse().stream().allMatch(key -> key.endsWith(":gone")));
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
            Bench.letPass(Duration.ofMillis(pause));
            proxy.heal();
        }
    }
}
