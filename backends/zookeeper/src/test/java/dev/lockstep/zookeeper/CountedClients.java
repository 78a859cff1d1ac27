package dev.lockstep.zookeeper;

import dev.lockstep.LockClient;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.ZooKeeperServer;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;

/** Clients whose requests are counted on the server, for each client. */
abstract class CountedClients {
    static final int TIMES = 50;

    /** Heartbeats of a client, whose timeout is a minute, in the time of a test. */
    static final long NOISE = 8;

    /** How many pairs are counted together. */
    static final int BLOCK = 10;

    static final Duration SOON = Duration.ofSeconds(20);

    private static final Pattern CONNECTION = Pattern.compile("recved=(\\d+),sent=(\\d+),.*sid=0x([0-9a-f]+),");

    @AutoClose
    static ZooKeeperServer server;

    private final Map<LockClient, ZooKeeperBackend> backends = new ConcurrentHashMap<>();
    LockClient client;
    LockClient rival;

    @BeforeAll
    static void startServer() {
        // Idle locks are removed once in an hour, and not while nodes are counted.
        server = Servers.require(() -> ZooKeeperServer.builder()
                .systemProperty("znode.container.checkIntervalMs", "3600000")
                .start());
    }

    @BeforeEach
    void openClients() {
        client = open("client", server.port(), "");
        rival = open("rival", server.port(), "");
    }

    @AfterEach
    void closeClients() {
        backends.keySet().forEach(LockClient::close);
    }

    final LockClient open(String name, int port, String options) {
        return open(name, port, options, Duration.ofSeconds(60));
    }

    final LockClient open(String name, int port, String options, Duration ttl) {
        ZooKeeperBackend[] opened = new ZooKeeperBackend[1];
        LockClient made = LockClient.builder()
                .clientName(name)
                .ttl(ttl)
                .requestTimeout(SOON)
                .backend(context -> opened[0] = (ZooKeeperBackend)
                        Url.parse("zookeeper://127.0.0.1:" + port + options).open(context))
                .connect();
        backends.put(made, opened[0]);
        return made;
    }

    /** The number of requests from a client, once no more arrive. */
    final long requests(LockClient of) {
        long session = Objects.requireNonNull(backends.get(of)).session().id();
        long[] last = {-1};
        Awaitility.await().atMost(SOON).pollInterval(Duration.ofMillis(20)).until(() -> {
            long now = traffic(session, 1);
            boolean quiet = now == last[0];
            last[0] = now;
            return quiet;
        });
        return last[0];
    }

    /** How many packets a client has sent (1) or been sent (2). */
    private static long traffic(long session, int direction) {
        for (String line : server.report("cons").lines().toList()) {
            Matcher connection = CONNECTION.matcher(line);
            if (connection.find() && Long.parseUnsignedLong(connection.group(3), 16) == session) {
                return Long.parseLong(connection.group(direction));
            }
        }
        throw new AssertionError("no connection of session 0x" + Long.toHexString(session));
    }

    /** How many packets a client was sent that it had not asked for. */
    final long events(LockClient of) {
        long requests = requests(of);
        return traffic(Objects.requireNonNull(backends.get(of)).session().id(), 2) - requests;
    }

    /** Calls that are counted. */
    interface Pairs {
        void take(int times) throws InterruptedException;
    }

    /**
     * The amount that a block of pairs adds to a count. A busy machine makes some holds so long that they cost more,
     * but not all: so blocks are counted until one adds no more than it may, and the least is returned.
     */
    static long leastOfBlocks(long most, LongSupplier count, Pairs pairs) throws InterruptedException {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 30 && least > most; i++) {
            long before = count.getAsLong();
            pairs.take(BLOCK);
            least = Math.min(least, count.getAsLong() - before);
        }
        return least;
    }

    final void awaitWaiters(String name, int count) {
        Awaitility.await()
                .atMost(SOON)
                .pollInterval(Duration.ofMillis(5))
                .until(() -> rival.inspect(name).waiters().size() == count);
    }
}
