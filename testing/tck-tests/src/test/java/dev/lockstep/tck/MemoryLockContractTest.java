package dev.lockstep.tck;

import dev.lockstep.EngineInfo;
import dev.lockstep.LockClient;
import dev.lockstep.LockInfo;
import dev.lockstep.memory.MemoryEngine;
import dev.lockstep.spi.AdminBackend;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Traits;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.assertj.core.api.Assertions;

/** The contract on the memory engine, the reference implementation. */
class MemoryLockContractTest extends LockContract {
    @Override
    protected BackendFixture fixture() {
        return new MemoryFixture();
    }

    private static final class MemoryFixture implements BackendFixture {
        private final MemoryEngine engine = new MemoryEngine();
        private final Map<LockClient, String> ids = new ConcurrentHashMap<>();
        private final AtomicLong claims = new AtomicLong();

        @Override
        public LockClient open(LockClient.Builder builder) {
            String[] id = new String[1];
            LockClient client = builder.backend(context -> {
                        id[0] = context.clientId();
                        return new CountingBackend(engine.open(context), claims);
                    })
                    .connect();
            ids.put(client, id[0]);
            return client;
        }

        @Override
        public Set<Capability> capabilities() {
            return EnumSet.complementOf(
                    EnumSet.of(Capability.RESTART_SERVER, Capability.SECOND_PROCESS, Capability.REPORTS_REQUESTS));
        }

        @Override
        public Duration ttl() {
            return Duration.ofSeconds(1);
        }

        @Override
        public List<String> malformedUrls() {
            return List.of("memory://localhost", "memory:a/b", "memory:user:s3cret@localhost", "memory: ");
        }

        @Override
        public void breakConnection(LockClient client) {
            engine.disconnect(id(client), MemoryEngine.Outage.REQUESTS_LOST);
        }

        @Override
        public void loseReplies(LockClient client) {
            engine.disconnect(id(client), MemoryEngine.Outage.REPLIES_LOST);
        }

        @Override
        public void slowDown(LockClient client, Duration delay) {
            engine.delayReplies(id(client), delay);
        }

        @Override
        public void healConnection(LockClient client) {
            try {
                engine.delayReplies(id(client), Duration.ZERO);
                engine.reconnect(id(client));
            } catch (IllegalArgumentException e) {
                // It was closed: there is nothing to heal.
            }
        }

        @Override
        public void expireSession(LockClient client) {
            engine.expireSession(id(client));
        }

        @Override
        public long requestCount() {
            return claims.get();
        }

        @Override
        public void close() {
            // All clients are closed by now; a session of one that closed in an outage ends with its ttl.
            Bench.await("no session is left", () -> engine.sessionCount() == 0);
            Assertions.assertThat(engine.lockCount()).isZero();
        }

        private String id(LockClient client) {
            String id = ids.get(client);
            if (id == null) {
                throw new IllegalArgumentException("not opened here: " + client.name());
            }
            return id;
        }
    }

    /** Counts what the memory engine is asked for. Its grants are renewed by session, so that claims are all there is. */
    private record CountingBackend(LockBackend delegate, AtomicLong claims) implements LockBackend {
        @Override
        public Traits traits() {
            return delegate.traits();
        }

        @Override
        public Claim submit(ClaimRequest request) {
            claims.incrementAndGet();
            return delegate.submit(request);
        }

        @Override
        public Watch watch(String name, Runnable changed) {
            return delegate.watch(name, changed);
        }

        @Override
        public long lastContactNanos() {
            return delegate.lastContactNanos();
        }

        @Override
        public CompletionStage<Void> ping() {
            return delegate.ping();
        }

        @Override
        public CompletionStage<LockInfo> inspect(String name) {
            return delegate.inspect(name);
        }

        @Override
        public CompletionStage<List<LockInfo>> list(String prefix) {
            return delegate.list(prefix);
        }

        @Override
        public CompletionStage<Boolean> forceRelease(String name) {
            return delegate.forceRelease(name);
        }

        @Override
        public CompletionStage<Boolean> forceRelease(String name, long token) {
            return delegate.forceRelease(name, token);
        }

        @Override
        public CompletionStage<List<String>> namespaces() {
            return delegate.namespaces();
        }

        @Override
        public AdminBackend admin(String namespace) {
            return delegate.admin(namespace);
        }

        @Override
        public CompletionStage<EngineInfo> describe() {
            return delegate.describe();
        }

        @Override
        public void close() {
            delegate.close();
        }
    }
}
