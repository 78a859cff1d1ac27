package dev.lockstep.examples.toy;

import dev.lockstep.LockClient;
import dev.lockstep.tck.BackendFixture;
import dev.lockstep.tck.Capability;
import dev.lockstep.tck.LockContract;
import java.time.Duration;
import java.util.EnumSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/** The toy keeps the contract, as every backend does. */
class ToyContractTest extends LockContract {
    @Override
    protected BackendFixture fixture() {
        return new Fixture();
    }

    /** Opens clients of one store, each over a connection that can be cut. */
    private static final class Fixture implements BackendFixture {
        private final ToyStore store = new ToyStore();
        private final Map<LockClient, ToyStore.Connection> connections = new IdentityHashMap<>();
        private final Map<LockClient, String> ids = new IdentityHashMap<>();

        @Override
        public LockClient open(LockClient.Builder builder) {
            ToyStore.Connection connection = new ToyStore.Connection(store);
            String[] id = new String[1];
            LockClient client = builder.backend(context -> {
                        id[0] = context.clientId();
                        return new ToyBackend(context, connection);
                    })
                    .connect();
            connections.put(client, connection);
            ids.put(client, id[0]);
            return client;
        }

        @Override
        public Set<Capability> capabilities() {
            return EnumSet.of(Capability.BREAK_CONNECTION, Capability.LOSE_REPLIES, Capability.EXPIRE_SESSION);
        }

        @Override
        public int attempts() {
            return 100;
        }

        @Override
        public Duration ttl() {
            return Duration.ofMillis(600);
        }

        @Override
        public List<String> malformedUrls() {
            return List.of("toy:", "toy:a b", "toy://user:s3cret@host");
        }

        @Override
        public void breakConnection(LockClient client) {
            connection(client).hurt(ToyStore.Fault.CUT);
        }

        @Override
        public void loseReplies(LockClient client) {
            connection(client).hurt(ToyStore.Fault.DEAF);
        }

        @Override
        public void healConnection(LockClient client) {
            connection(client).hurt(ToyStore.Fault.NONE);
        }

        @Override
        public void expireSession(LockClient client) {
            store.releaseAll(Objects.requireNonNull(ids.get(client)));
        }

        private ToyStore.Connection connection(LockClient client) {
            return Objects.requireNonNull(connections.get(client));
        }
    }
}
