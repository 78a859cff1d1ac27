package dev.lockstep.redis;

import dev.lockstep.redis.internal.ClusterRoute;
import dev.lockstep.redis.internal.Route;
import dev.lockstep.servers.RedisCluster;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.TcpProxy;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.tck.BackendFixture;
import dev.lockstep.tck.Capability;
import dev.lockstep.tck.LockContract;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.providers.ClusterConnectionProvider;

/** The contract on a cluster of three primaries, each client through proxies of its own. */
@Tag("full")
class ContractClusterTest extends LockContract {
    @AutoClose
    private static RedisCluster cluster;

    @BeforeAll
    static void startCluster() {
        cluster = Servers.require(() -> RedisServer.builder().startCluster(3, 0));
    }

    @Override
    protected BackendFixture fixture() {
        return new ClusterFixture();
    }

    private static final class ClusterFixture extends RedisFixture {
        ClusterFixture() {
            super(cluster.servers(), "redis-cluster://" + cluster.addresses());
        }

        /** Nodes tell their own addresses; the mapper leads to the proxies instead. */
        @Override
        Route connect(BackendContext context, Map<Integer, TcpProxy> proxies) {
            int timeout = (int) context.requestTimeout().toMillis();
            Set<HostAndPort> nodes = new HashSet<>();
            proxies.values().forEach(proxy -> nodes.add(new HostAndPort("127.0.0.1", proxy.port())));
            ClusterConnectionProvider cluster = new ClusterConnectionProvider(
                    nodes,
                    DefaultJedisClientConfig.builder()
                            .timeoutMillis(timeout)
                            .hostAndPortMapper(node -> {
                                TcpProxy proxy = proxies.get(node.getPort());
                                return proxy == null ? node : new HostAndPort("127.0.0.1", proxy.port());
                            })
                            .build());
            return new ClusterRoute(cluster, cluster::close);
        }

        /**
         * A cluster without replicas is not whole while a node restarts; failover has its own tests. And ten thousand locks
         * are in nearly as many slots, each of which has to be asked on its own.
         */
        @Override
        public Set<Capability> capabilities() {
            return EnumSet.complementOf(
                    EnumSet.of(Capability.RESTART_SERVER, Capability.COUNT_REQUESTS, Capability.PUSHES_CHANGES));
        }
    }
}
