package dev.lockstep.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.LockClient;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.TcpProxy;
import dev.lockstep.servers.ZooKeeperServer;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a session does that has ended here, while the server may still answer it. */
@Timeout(60)
class EndedSessionTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final ZooKeeperBackend[] backend = new ZooKeeperBackend[1];
    private ZooKeeperServer server;
    private TcpProxy proxy;
    private LockClient client;

    @BeforeEach
    void open() {
        server = Servers.require(() -> ZooKeeperServer.builder().start());
        proxy = TcpProxy.to(server);
        client = LockClient.builder()
                .ttl(Duration.ofSeconds(30))
                .requestTimeout(PATIENCE)
                .backend(context -> backend[0] = (ZooKeeperBackend)
                        ZooKeeperEngine.at("127.0.0.1:" + proxy.port()).open(context))
                .connect();
    }

    @AfterEach
    void close() {
        client.close();
        proxy.close();
        server.close();
    }

    /** As an extra session that is given up just when it is connected: the server ends it, and with it the node. */
    @Test
    void aSessionThatIsBeingClosedGrantsNothing() throws Exception {
        client.lock("x").lock(); // makes the parents of its node
        client.lock("x").unlock();
        Session session = backend[0].session();
        proxy.stall(TcpProxy.Direction.REPLIES);
        ZooKeeperClaim claim = (ZooKeeperClaim) backend[0].submit(new TestClaim("x", "id.1"));
        try (RawClient operator = new RawClient(server.address())) {
            String lock = new Keys("lockstep").lockPath("x");
            Awaitility.await()
                    .atMost(PATIENCE)
                    .ignoreExceptions()
                    .until(() -> !operator.children(lock).isEmpty());
        }
        session.beginClose();
        proxy.heal();
        session.awaitClose(System.nanoTime() + PATIENCE.toNanos());
        assertThat(session.grants()).isEmpty();
        assertThat(claim.outcome().toCompletableFuture()).isNotDone();
    }

    /** As when a server answers a request with that, and the connection then breaks: nobody else would end the handle. */
    @Test
    void theHandleOfAnEndedSessionIsClosed() {
        Session session = backend[0].session();
        session.end();
        Awaitility.await()
                .atMost(PATIENCE)
                .until(() -> !session.handle().getState().isAlive());
    }
}
