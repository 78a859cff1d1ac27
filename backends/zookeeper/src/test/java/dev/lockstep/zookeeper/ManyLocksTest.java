package dev.lockstep.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.servers.JavaProcess;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.ZooKeeperServer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A server ends a session by one transaction that lists all its nodes. If that is longer than {@code jute.maxbuffer} and as
 * much again, the server cannot read its own log, and never starts again (ZOOKEEPER-4306).
 */
@Tag("full")
class ManyLocksTest {
    private static final int LOCKS = 100_000;
    private static final int STEP = 10_000;
    private static final Duration TTL = Duration.ofSeconds(20);

    private static String name(int number) {
        return String.format("%060d", number);
    }

    @Test
    @Timeout(900)
    void aServerStartsAgainAfterAClientWithManyLocksHasDied() throws Exception {
        try (ZooKeeperServer server =
                Servers.require(() -> ZooKeeperServer.builder().start())) {
            try (JavaProcess holder = JavaProcess.start(Holder.class.getName(), server.address())) {
                for (int held = STEP; held <= LOCKS; held += STEP) {
                    assertThat(holder.next(Duration.ofMinutes(5))).isEqualTo("held " + held);
                }
                assertThat(server.metric("zk_ephemerals_count")).isEqualTo(LOCKS);
                holder.kill();
            }
            Awaitility.await()
                    .atMost(Duration.ofMinutes(1))
                    .pollInterval(Duration.ofMillis(500))
                    .until(() -> server.metric("zk_ephemerals_count") == 0);
            server.restart();
            try (LockClient next = connect(server.address());
                    Lease lease = next.lock(name(0)).acquire()) {
                assertThat(lease.isValid()).isTrue();
            }
        }
    }

    private static LockClient connect(String address) {
        return LockClient.builder()
                .url("zookeeper://" + address)
                .ttl(TTL)
                .requestTimeout(Duration.ofSeconds(20))
                .connect();
    }

    /** The client that dies. */
    static final class Holder {
        private static final int AT_ONCE = 500;

        private Holder() {}

        public static void main(String[] args) throws Exception {
            try (LockClient client = connect(args[0])) {
                List<Lease> held = new ArrayList<>();
                Deque<CompletableFuture<Lease>> asking = new ArrayDeque<>();
                for (int i = 0; i < LOCKS; i++) {
                    asking.add(client.lock(name(i)).acquireAsync());
                    if (asking.size() == AT_ONCE) {
                        add(held, asking.remove());
                    }
                }
                for (CompletableFuture<Lease> last : asking) {
                    add(held, last);
                }
                System.in.read(); // until it is killed, or the test is
            }
        }

        private static void add(List<Lease> held, CompletableFuture<Lease> asked) throws Exception {
            held.add(asked.get(4, TimeUnit.MINUTES)); // less than the test waits for each step
            if (held.size() % STEP == 0) {
                boolean valid = held.stream().allMatch(Lease::isValid);
                System.out.println((valid ? "held " : "lost of ") + held.size());
            }
        }
    }
}
