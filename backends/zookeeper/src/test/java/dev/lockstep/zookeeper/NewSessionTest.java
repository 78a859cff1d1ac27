package dev.lockstep.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.ZooKeeperServer;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Faults of the session that follows an ended one. */
@Timeout(60)
@Tag("full")
class NewSessionTest {
    /** As with too many open files: ZooKeeper's client cannot even be made. */
    @Test
    void aSessionThatCannotBeBegunIsTriedAgain() throws Exception {
        isTriedAgain("zookeeper.clientCnxnSocket", "no.such.Class");
    }

    /** A property that cannot be read is an exception of the language, not one of ZooKeeper's. */
    @Test
    void aSessionThatFailsInAnyOtherWayIsTriedAgain() throws Exception {
        isTriedAgain("zookeeper.request.timeout", "soon");
    }

    /** As with a limit of threads, of which ZooKeeper's client needs two: an error of the JVM is no exception. */
    @Test
    void aSessionForWhichThereIsNoThreadIsTriedAgain() throws Exception {
        isTriedAgain("zookeeper.clientCnxnSocket", NoThread.class.getName());
    }

    /** A class that ZooKeeper's client cannot load. */
    static final class NoThread {
        static final int THREADS = start();

        private NoThread() {}

        private static int start() {
            throw new InternalError("no thread");
        }
    }

    private static void isTriedAgain(String property, String nonsense) throws Exception {
        ZooKeeperBackend[] backend = new ZooKeeperBackend[1];
        try (ZooKeeperServer server =
                        Servers.require(() -> ZooKeeperServer.builder().start());
                LockClient client = LockClient.builder()
                        .requestTimeout(Duration.ofSeconds(20))
                        .retryBackoff(Duration.ofMillis(5), Duration.ofMillis(20))
                        .backend(context -> backend[0] = (ZooKeeperBackend)
                                ZooKeeperEngine.at(server.address()).open(context))
                        .connect()) {
            Session old = backend[0].session();
            System.setProperty(property, nonsense);
            try {
                old.end();
                TimeUnit.MILLISECONDS.sleep(100); // several tries
                assertThat(backend[0].session()).isSameAs(old);
            } finally {
                System.clearProperty(property);
            }
            Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> backend[0].session() != old);
            try (Lease lease = client.lock("x").acquire()) {
                assertThat(lease.isValid()).isTrue();
            }
            old.handle().close();
        }
    }
}
