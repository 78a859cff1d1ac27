package dev.lockstep.zookeeper;

import dev.lockstep.LockClient;
import dev.lockstep.servers.TcpProxy;
import dev.lockstep.servers.ZooKeeperServer;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.tck.BackendFixture;
import dev.lockstep.tck.Capability;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;

/** The contract on real servers. Each client has a proxy of its own to each of them. */
class ZooKeeperFixture implements BackendFixture {
    /** One client's side. */
    private record Side(List<TcpProxy> proxies, ZooKeeperBackend backend) {
        void hurt(Consumer<TcpProxy> fault) {
            if (!backend.isClosed()) {
                proxies.forEach(fault);
            }
        }
    }

    private final List<ZooKeeperServer> servers;
    private final String options;
    private final Set<Capability> lacking;
    private final Map<LockClient, Side> sides = new ConcurrentHashMap<>();

    ZooKeeperFixture(List<ZooKeeperServer> servers, String options, Capability... lacking) {
        this.servers = servers;
        this.options = options;
        this.lacking = Set.copyOf(Arrays.asList(lacking));
    }

    @Override
    public LockClient open(LockClient.Builder builder) {
        List<TcpProxy> proxies = new ArrayList<>();
        servers.forEach(server -> proxies.add(TcpProxy.to(server)));
        String hosts =
                proxies.stream().map(proxy -> "127.0.0.1:" + proxy.port()).collect(Collectors.joining(","));
        ZooKeeperEngine engine = Url.parse("zookeeper://" + hosts + options);
        ZooKeeperBackend[] backend = new ZooKeeperBackend[1];
        try {
            LockClient client = builder.backend(context -> {
                        backend[0] = (ZooKeeperBackend) engine.open(context);
                        return closing(backend[0], proxies);
                    })
                    .connect();
            sides.put(client, new Side(proxies, backend[0]));
            return client;
        } catch (RuntimeException e) {
            proxies.forEach(TcpProxy::close);
            throw e;
        }
    }

    /** A client's proxies go with it, since their threads would be counted as the client's. */
    private static LockBackend closing(LockBackend backend, List<TcpProxy> proxies) {
        return (LockBackend) Proxy.newProxyInstance(
                LockBackend.class.getClassLoader(), new Class<?>[] {LockBackend.class}, (self, method, arguments) -> {
                    try {
                        return method.invoke(backend, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    } finally {
                        if (method.getName().equals("close")) {
                            proxies.forEach(TcpProxy::close);
                        }
                    }
                });
    }

    @Override
    public Set<Capability> capabilities() {
        Set<Capability> all = EnumSet.allOf(Capability.class);
        all.remove(Capability.SHOWS_REMAINING);
        all.remove(Capability.SHOWS_GRANTED);
        all.removeAll(lacking);
        all.remove(Capability.KEEPS_WHEN_CLOSED); // a node lives as long as its session
        return all;
    }

    @Override
    public Optional<String> url() {
        return Optional.of("zookeeper://" + addresses() + options);
    }

    private String addresses() {
        return servers.stream().map(ZooKeeperServer::address).collect(Collectors.joining(","));
    }

    @Override
    public List<String> malformedUrls() {
        return List.of(
                "zookeeper:",
                "zookeeper://",
                "zookeeper:localhost",
                "zookeeper:///chroot",
                "zookeeper://,",
                "zookeeper://user:s3cret@",
                "zookeeper://user:s3cret@localhost:notaport",
                "zookeeper://user:s3cret@localhost:99999",
                "zookeeper://s3cret@localhost",
                "zookeeper://user:s3cret%zz@localhost",
                "zookeeper://user:s3cret@localhost/a//b",
                "zookeeper://user:s3cret@localhost/a/../b",
                "zookeeper://user:s3cret@localhost?queue=s3cret",
                "zookeeper://user:s3cret@localhost?tls=s3cret",
                "zookeeper://user:s3cret@localhost?acl=s3cret",
                "zookeeper://user:s3cret@localhost?s3cret=on",
                "zookeeper://user:s3cret@localhost?s3cret",
                "zookeeper://user:s3cret@localhost?",
                "zookeeper://user:s3cret@localhost?sasl=",
                "zookeeper://user:s3cret@localhost?zookeeper.=s3cret",
                "zookeeper://user:s3cret@localhost?sasl=s3cret&sasl=s3cret",
                "zookeeper://user:s3cret@localhost?Tls=on");
    }

    @Override
    public int attempts() {
        return 200;
    }

    final void hurt(LockClient client, Consumer<TcpProxy> fault) {
        side(client).hurt(fault);
    }

    @Override
    public void breakConnection(LockClient client) {
        hurt(client, TcpProxy::cut);
    }

    @Override
    public void silence(LockClient client) {
        hurt(client, TcpProxy::blackHole);
    }

    @Override
    public void loseReplies(LockClient client) {
        hurt(client, TcpProxy::dropReplies);
    }

    @Override
    public void slowDown(LockClient client, Duration delay) {
        hurt(client, proxy -> proxy.delay(TcpProxy.Direction.REPLIES, delay));
    }

    @Override
    public void healConnection(LockClient client) {
        hurt(client, proxy -> {
            proxy.delay(Duration.ZERO);
            proxy.heal();
        });
    }

    /** Ends a session as its owner would: with its id and password, on another connection. */
    @Override
    public void expireSession(LockClient client) {
        closeSession(side(client).backend.session().handle(), addresses());
    }

    static void closeSession(ZooKeeper handle, String address) {
        CountDownLatch connected = new CountDownLatch(1);
        Watcher watcher = event -> {
            Watcher.Event.KeeperState state = event.getState();
            if (state == Watcher.Event.KeeperState.SyncConnected || state == Watcher.Event.KeeperState.Expired) {
                connected.countDown(); // one that has ended already is fine, too
            }
        };
        try (ZooKeeper thief = new ZooKeeper(
                address, handle.getSessionTimeout(), watcher, handle.getSessionId(), handle.getSessionPasswd())) {
            connected.await();
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void restartServer() {
        servers.forEach(ZooKeeperServer::restart);
    }

    @Override
    public long requestCount() {
        return servers.stream()
                .mapToLong(server -> server.metric("zk_packets_received"))
                .sum();
    }

    private Side side(LockClient client) {
        Side side = sides.get(client);
        if (side == null) {
            throw new IllegalArgumentException("not opened here: " + client.name());
        }
        return side;
    }
}
