package dev.lockstep.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.redis.internal.PoolRoute;
import dev.lockstep.servers.RedisCluster;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.TcpProxy;
import dev.lockstep.spi.BackendFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.Connection;
import redis.clients.jedis.ConnectionPool;
import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.util.Pool;

/** Locks and an application that use the connections of one Jedis client. */
@Tag("full")
@Timeout(60)
class SharedPoolTest extends OneServerTestCase {
    private static final Duration TIMEOUT = Duration.ofSeconds(2);

    /** So long that a busy machine does not cost the lock that is renewed meanwhile. */
    private static final Duration TTL = Duration.ofSeconds(10);

    private static final int USUAL_MILLIS = 1_234;

    private static RedisClient jedis(int port) {
        return RedisClient.builder()
                .hostAndPort("127.0.0.1", port)
                .clientConfig(DefaultJedisClientConfig.builder()
                        .socketTimeoutMillis(USUAL_MILLIS)
                        .build())
                .poolConfig(pool())
                .build();
    }

    private static ConnectionPoolConfig pool() {
        ConnectionPoolConfig config = new ConnectionPoolConfig();
        config.setMaxTotal(4);
        config.setMaxIdle(4);
        config.setTimeBetweenEvictionRuns(Duration.ofMillis(-1));
        return config;
    }

    private static LockClient locks(BackendFactory backend) {
        return LockClient.builder()
                .backend(backend)
                .ttl(TTL)
                .requestTimeout(TIMEOUT)
                .connect();
    }

    /** Borrows all that a pool will lend, including connections that a client is about to return. */
    private static List<Connection> exhaust(Pool<Connection> pool) throws Exception {
        List<Connection> taken = new ArrayList<>();
        try {
            while (true) {
                taken.add(PoolRoute.borrow(pool, TIMEOUT.toNanos() / 4));
            }
        } catch (NoSuchElementException nothingLeft) {
            return taken;
        }
    }

    /** Likewise for all pools of a cluster, until they have nothing more: on a busy machine a client may return one late. */
    private static List<Connection> exhaust(RedisClusterClient jedis) throws Exception {
        List<Connection> taken = new ArrayList<>();
        int before;
        do {
            before = taken.size();
            for (ConnectionPool pool : jedis.getClusterNodes().values()) {
                taken.addAll(exhaust(pool));
            }
        } while (taken.size() > before);
        return taken;
    }

    @Test
    void aShortWaitLeavesTheConnectionItsTimeout() throws Exception {
        try (RedisClient jedis = jedis(bench().server().port());
                LockClient locks = locks(RedisEngine.on(jedis))) {
            assertThat(locks.lock(NAME).tryLock(900, TimeUnit.MILLISECONDS)).isTrue();
            locks.list("");
            locks.lock(NAME).unlock();
            List<Connection> taken = exhaust(jedis.getPool());
            assertThat(taken).hasSize(3).allMatch(connection -> connection.getSoTimeout() == USUAL_MILLIS);
            taken.forEach(Connection::close);
        }
    }

    /**
     * A pool that is closed, as Jedis closes that of the old primary on a failover, interrupts the threads that wait
     * for it.
     */
    @Test
    void aPoolThatIsClosedLeavesNoThreadInterrupted() throws Exception {
        try (RedisClient jedis = jedis(bench().server().port());
                LockClient locks = locks(RedisEngine.on(jedis))) {
            exhaust(jedis.getPool());
            AtomicBoolean interrupted = new AtomicBoolean();
            AtomicReference<Throwable> thrown = new AtomicReference<>();
            Thread caller = new Thread(() -> {
                try {
                    locks.lock(NAME).acquire();
                } catch (InterruptedException | RuntimeException e) {
                    thrown.set(e);
                }
                interrupted.set(Thread.currentThread().isInterrupted());
            });
            caller.start();
            Awaitility.await()
                    .atMost(Duration.ofSeconds(20))
                    .until(() -> jedis.getPool().getNumWaiters() > 0);
            jedis.getPool().close();
            caller.join();
            assertThat(thrown.get()).isInstanceOf(LockUnavailableException.class);
            assertThat(interrupted).isFalse();
        }
    }

    /** Its first answer is waited for until the request timeout. */
    @Test
    void aWaitThatIsTooShortCostsNoConnection() throws Exception {
        TcpProxy proxy = bench().proxy();
        try (RedisClient jedis = jedis(proxy.port());
                LockClient locks = locks(RedisEngine.on(jedis))) {
            exhaust(jedis.getPool()).forEach(Connection::close);
            long destroyed = jedis.getPool().getDestroyedCount();
            proxy.delay(Duration.ofMillis(300));
            assertThat(locks.lock(NAME).tryLock(50, TimeUnit.MILLISECONDS)).isTrue();
            assertThat(jedis.getPool().getDestroyedCount()).isEqualTo(destroyed);
            proxy.delay(Duration.ZERO);
            locks.lock(NAME).unlock();
        }
    }

    /** The others belong to the application, and may still work. */
    @Test
    void aTimeoutClosesNoOtherConnectionOfTheApplication() throws Exception {
        TcpProxy proxy = bench().proxy();
        try (RedisClient jedis = jedis(proxy.port());
                LockClient locks = locks(RedisEngine.on(jedis))) {
            exhaust(jedis.getPool()).forEach(Connection::close);
            int idle = jedis.getPool().getNumIdle();
            long destroyed = jedis.getPool().getDestroyedCount();
            proxy.blackHole();
            assertThatThrownBy(() -> locks.lock(NAME).tryLock()).isInstanceOf(LockUnavailableException.class);
            Awaitility.await()
                    .atMost(Duration.ofSeconds(20))
                    .until(() -> jedis.getPool().getDestroyedCount() > destroyed);
            assertThat(jedis.getPool().getDestroyedCount() - destroyed).isLessThan(idle);
            proxy.heal();
        }
    }

    @Test
    void messagesNameTheServer() throws Exception {
        TcpProxy proxy = bench().proxy();
        String place = "127.0.0.1:" + proxy.port();
        try (RedisClient jedis = jedis(proxy.port());
                LockClient locks = locks(RedisEngine.on(jedis))) {
            locks.lock(NAME).lock();
            proxy.blackHole();
            assertThatThrownBy(() -> locks.lock(NAME).unlock())
                    .hasMessageContaining(place); // before the ttl has passed
            assertThatThrownBy(() -> locks.lock("another").tryLock()).hasMessageContaining(place);
            assertThatThrownBy(() -> locks.lock("another").lock()).hasMessageContaining(place);
            assertThatThrownBy(() -> locks.inspect(NAME)).hasMessageContaining(place);
            proxy.heal();
        }
    }

    @Test
    void anExhaustedPoolCostsNoLock() throws Exception {
        try (RedisClient jedis = jedis(bench().server().port());
                LockClient locks = locks(RedisEngine.on(jedis))) {
            Lease held = locks.lock(NAME).acquire();
            List<Connection> taken = exhaust(jedis.getPool());
            Bench.letPass(TTL.multipliedBy(5).dividedBy(4));
            assertThat(held.isValid()).isTrue();
            assertThatThrownBy(() -> locks.lock("another").tryLock()).isInstanceOf(LockUnavailableException.class);
            taken.forEach(Connection::close);
            held.close();
        }
    }

    /** Its own connections would wait for an answer without end. */
    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void aSilentServerOfAClusterDelaysNoOtherCall() throws Exception {
        try (RedisCluster cluster = Servers.require(() -> RedisServer.builder().startCluster(3, 0));
                RedisClusterClient jedis = RedisClusterClient.builder()
                        .nodes(Set.of(
                                new HostAndPort("127.0.0.1", cluster.get(0).port())))
                        .clientConfig(DefaultJedisClientConfig.builder()
                                .socketTimeoutMillis(0)
                                .build())
                        .poolConfig(pool())
                        .build()) {
            for (ConnectionPool pool : jedis.getClusterNodes().values()) {
                exhaust(pool).forEach(Connection::close); // they are idle, so that nobody has to connect
            }
            cluster.get(0).pause();
            long start = System.nanoTime();
            try (LockClient locks = locks(RedisEngine.on(jedis))) {
                locks.list("");
            } catch (LockUnavailableException e) {
                // It may have asked that server for something else.
            }
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(TIMEOUT.multipliedBy(5));
            cluster.get(0).resume();
            for (ConnectionPool pool : jedis.getClusterNodes().values()) {
                List<Connection> taken = exhaust(pool);
                assertThat(taken).allMatch(connection -> connection.getSoTimeout() == 0);
                taken.forEach(Connection::close);
            }
        }
    }

    @Test
    void anExhaustedPoolOfAClusterCostsNoLockAndDelaysNoOtherCall() throws Exception {
        try (RedisCluster cluster = Servers.require(() -> RedisServer.builder().startCluster(3, 0));
                RedisClusterClient jedis = RedisClusterClient.builder()
                        .nodes(Set.of(
                                new HostAndPort("127.0.0.1", cluster.get(0).port())))
                        .poolConfig(pool()) // whose callers wait without end
                        .build();
                LockClient locks = locks(RedisEngine.on(jedis))) {
            Lease held = locks.lock(NAME).acquire();
            List<Connection> taken = exhaust(jedis);
            for (String name : List.of(NAME, "another", "third", "fourth", "fifth", "sixth")) {
                long start = System.nanoTime();
                assertThatThrownBy(() -> locks.lock(name + "!").tryLock()).isInstanceOf(LockUnavailableException.class);
                assertThat(Duration.ofNanos(System.nanoTime() - start))
                        .isLessThan(TIMEOUT.multipliedBy(19).dividedBy(10));
            }
            assertThat(held.isValid()).isTrue(); // after more than the ttl
            long start = System.nanoTime();
            assertThatThrownBy(() -> locks.list("")).isInstanceOf(LockUnavailableException.class);
            assertThatThrownBy(() -> locks(RedisEngine.on(jedis))).isInstanceOf(LockUnavailableException.class);
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(TIMEOUT.multipliedBy(4));
            taken.forEach(Connection::close);
            held.close();
        }
    }
}
