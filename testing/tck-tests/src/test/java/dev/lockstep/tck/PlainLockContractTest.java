package dev.lockstep.tck;

import dev.lockstep.LockClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/**
 * The contract on an engine without queue, push or shared mode, over TCP: what the memory engine cannot show, which is
 * all that, a second process, and a restart of the server.
 */
@Tag("full")
class PlainLockContractTest extends LockContract {
    private static PlainServer server;

    @BeforeAll
    static void startServer() throws IOException {
        server = new PlainServer();
    }

    @AfterAll
    static void stopServer() throws IOException {
        server.close();
    }

    @Override
    protected BackendFixture fixture() {
        return new PlainFixture();
    }

    private static final class PlainFixture implements BackendFixture {
        private record Side(PlainWire wire, String id) {}

        private final Map<LockClient, Side> sides = new ConcurrentHashMap<>();

        @Override
        public LockClient open(LockClient.Builder builder) {
            Side[] side = new Side[1];
            LockClient client = builder.backend(context -> {
                        side[0] = new Side(new PlainWire(server.port()), context.clientId());
                        return new PlainBackend(context, side[0].wire);
                    })
                    .connect();
            sides.put(client, side[0]);
            return client;
        }

        @Override
        public Set<Capability> capabilities() {
            return EnumSet.of(
                    Capability.BREAK_CONNECTION,
                    Capability.LOSE_REPLIES,
                    Capability.SLOW_DOWN,
                    Capability.EXPIRE_SESSION,
                    Capability.RESTART_SERVER,
                    Capability.COUNT_REQUESTS,
                    Capability.SECOND_PROCESS);
        }

        @Override
        public Optional<String> url() {
            return Optional.of("plain:" + server.port());
        }

        @Override
        public List<String> malformedUrls() {
            return List.of("plain:", "plain://user:s3cret@localhost:x");
        }

        @Override
        public Duration ttl() {
            return Duration.ofSeconds(1);
        }

        @Override
        public int attempts() {
            return 200;
        }

        @Override
        public void breakConnection(LockClient client) {
            side(client).wire.cut();
        }

        @Override
        public void loseReplies(LockClient client) {
            side(client).wire.loseReplies();
        }

        @Override
        public void slowDown(LockClient client, Duration delay) {
            side(client).wire.slowDown(delay);
        }

        @Override
        public void healConnection(LockClient client) {
            side(client).wire.heal();
        }

        @Override
        public void expireSession(LockClient client) {
            server.expire(side(client).id);
        }

        @Override
        public void restartServer() {
            try {
                server.restart();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public long requestCount() {
            return server.requests();
        }

        private Side side(LockClient client) {
            Side side = sides.get(client);
            if (side == null) {
                throw new IllegalArgumentException("not opened here: " + client.name());
            }
            return side;
        }
    }
}
