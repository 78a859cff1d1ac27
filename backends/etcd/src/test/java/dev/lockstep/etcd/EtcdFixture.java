package dev.lockstep.etcd;

import dev.lockstep.EngineInfo;
import dev.lockstep.LockClient;
import dev.lockstep.LockInfo;
import dev.lockstep.LockPage;
import dev.lockstep.servers.EtcdServer;
import dev.lockstep.servers.TcpProxy;
import dev.lockstep.spi.AdminBackend;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Traits;
import dev.lockstep.tck.BackendFixture;
import dev.lockstep.tck.Capability;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/** The contract's hands on a cluster of etcd: each client reaches each member through a proxy of its own. */
class EtcdFixture implements BackendFixture {
    private final List<EtcdServer> members;
    private final Map<LockClient, Side> sides = new ConcurrentHashMap<>();

    /** Everything that belongs to one client. */
    record Side(List<TcpProxy> proxies, String clientId, String namespace) {}

    EtcdFixture(List<EtcdServer> members) {
        this.members = members;
    }

    @Override
    public LockClient open(LockClient.Builder builder) {
        List<TcpProxy> proxies = new ArrayList<>();
        members.forEach(member -> proxies.add(TcpProxy.to(member)));
        String[] endpoints =
                proxies.stream().map(proxy -> "127.0.0.1:" + proxy.port()).toArray(String[]::new);
        Side[] side = new Side[1];
        try {
            LockClient client = builder.backend(context -> {
                        side[0] = new Side(proxies, context.clientId(), context.namespace());
                        return new ProxiedBackend(EtcdEngine.at(endpoints).open(context), proxies);
                    })
                    .connect();
            sides.put(client, side[0]);
            return client;
        } catch (RuntimeException e) {
            proxies.forEach(TcpProxy::close);
            throw e;
        }
    }

    @Override
    public Set<Capability> capabilities() {
        return EnumSet.complementOf(EnumSet.of(Capability.KEEPS_WHEN_CLOSED, Capability.SHOWS_GRANTED));
    }

    @Override
    public int attempts() {
        return Integer.getInteger("lockstep.etcd.attempts", 200);
    }

    @Override
    public Optional<String> url() {
        return Optional.of("etcd://" + members.stream().map(EtcdServer::address).collect(Collectors.joining(",")));
    }

    @Override
    public List<String> malformedUrls() {
        return List.of(
                "etcd:",
                "etcd://",
                "etcd://:2379",
                "etcd://localhost:x",
                "etcd://localhost:0",
                "etcd://localhost:65536",
                "etcd://localhost,",
                "etcd://localhost/path",
                "etcd://user:s3cret@",
                "etcd://user:s3cret@localhost:x",
                "etcd://user:s3cret@localhost?unknown=1",
                "etcd://user:s3cret%@localhost",
                "etcd://user:s3cret@localhost?ca=/ca.pem",
                "etcds://user:s3cret@localhost?cert=/cert.pem",
                "etcds://localhost?ca=",
                "etcd://user:s3cret@localhost?",
                "etcds://user:s3cret@localhost?",
                "etcds://user:s3cret@localhost?ca=/a.pem&ca=/b.pem",
                "etcds://user:s3cret@localhost?ca=/a.pem&CA=/a.pem",
                "etcds://user:s3cret@localhost?Ca=/a.pem",
                "etcds://user:s3cret@localhost?ca=/a.pem&",
                "etcds://user:s3cret@localhost?=/a.pem");
    }

    @Override
    public void breakConnection(LockClient client) {
        side(client).proxies.forEach(TcpProxy::blackHole);
    }

    @Override
    public void loseReplies(LockClient client) {
        side(client).proxies.forEach(TcpProxy::dropReplies);
    }

    @Override
    public void slowDown(LockClient client, Duration delay) {
        side(client).proxies.forEach(proxy -> proxy.delay(TcpProxy.Direction.REPLIES, delay));
    }

    @Override
    public void healConnection(LockClient client) {
        try {
            side(client).proxies.forEach(proxy -> {
                proxy.delay(Duration.ZERO);
                proxy.heal();
            });
        } catch (IllegalStateException e) {
            // The client was closed, and its proxies with it.
        }
    }

    @Override
    public void expireSession(LockClient client) {
        Side side = side(client);
        Gateway gateway = new Gateway(members.get(0));
        gateway.list("lockstep/" + side.namespace + "/client/").stream()
                .filter(session -> session.value().contains(side.clientId))
                .forEach(session -> gateway.revoke(session.lease()));
    }

    @Override
    public void restartServer() {
        members.forEach(EtcdServer::stop);
        // Side by side, since none is ready without a majority.
        members.parallelStream().forEach(EtcdServer::start);
    }

    @Override
    public long requestCount() {
        return (long) members.stream()
                .mapToDouble(member -> member.metric("grpc_server_msg_received_total", ""))
                .sum();
    }

    @Override
    public void close() {
        sides.values().forEach(side -> side.proxies.forEach(TcpProxy::close));
    }

    private Side side(LockClient client) {
        Side side = sides.get(client);
        if (side == null) {
            throw new IllegalArgumentException("not opened here: " + client.name());
        }
        return side;
    }

    /** Closes a client's proxies with the client, so that their threads do not count as the client's. */
    private record ProxiedBackend(LockBackend delegate, List<TcpProxy> proxies) implements LockBackend {
        @Override
        public Traits traits() {
            return delegate.traits();
        }

        @Override
        public Claim submit(ClaimRequest request) {
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
        public CompletionStage<LockPage> list(String prefix, String cursor, int limit) {
            return delegate.list(prefix, cursor, limit);
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
        public String address() {
            return delegate.address();
        }

        @Override
        public void close() {
            delegate.close();
            proxies.forEach(TcpProxy::close);
        }
    }
}
