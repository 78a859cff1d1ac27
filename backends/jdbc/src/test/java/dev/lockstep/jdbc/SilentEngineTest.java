package dev.lockstep.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.DistributedLock;
import dev.lockstep.LockClient;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.ReleaseNotConfirmedException;
import dev.lockstep.servers.MySqlServer;
import dev.lockstep.servers.PostgresServer;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.SqlServer;
import dev.lockstep.servers.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A database that is reached and does not answer: a frozen server, or a link that swallows everything. Every call ends within
 * one request timeout, and one with a longer wait of its own within that. Connections have been idle before; the contract
 * tests those that were not.
 */
@Tag("full")
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SilentEngineTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(2);

    /** For a busy machine; two timeouts are too much. */
    private static final Duration MARGIN = TIMEOUT.multipliedBy(7).dividedBy(10);

    private enum Database {
        POSTGRES(() -> PostgresServer.builder().start()),
        MYSQL(() -> MySqlServer.builder().start());

        private final Supplier<SqlServer> start;

        Database(Supplier<SqlServer> start) {
            this.start = start;
        }
    }

    /** A call, and how long it waits by itself. */
    private enum Way {
        LOCK(Duration.ZERO) {
            @Override
            void call(LockClient client) {
                client.lock("free").lock();
            }
        },
        UNLOCK(Duration.ZERO) {
            @Override
            void call(LockClient client) {
                client.lock(held(client)).unlock();
            }
        },
        TRY(Duration.ZERO) {
            @Override
            void call(LockClient client) {
                client.lock("free").tryLock();
            }
        },
        TRY_SHORTLY(Duration.ofMillis(300)) {
            @Override
            void call(LockClient client) throws InterruptedException {
                client.lock("free").tryLock(wait.toMillis(), TimeUnit.MILLISECONDS);
            }
        },
        TRY_LONG(Duration.ofMillis(3_000)) {
            @Override
            void call(LockClient client) throws InterruptedException {
                client.lock("free").tryLock(wait.toMillis(), TimeUnit.MILLISECONDS);
            }
        },
        READ(Duration.ZERO) {
            @Override
            void call(LockClient client) {
                client.readWriteLock("free").readLock().lock();
            }
        };

        final Duration wait;

        Way(Duration wait) {
            this.wait = wait;
        }

        abstract void call(LockClient client) throws InterruptedException;

        Duration bound() {
            return (wait.compareTo(TIMEOUT) > 0 ? wait : TIMEOUT).plus(MARGIN);
        }

        static String held(LockClient client) {
            return "held by " + client.name();
        }
    }

    /**
     * Each call is the first on its client, which has connections, and is made again when these are known to be broken.
     *
     * @param database the database
     */
    @ParameterizedTest
    @EnumSource(Database.class)
    void everyCallEndsInTime(Database database) throws Exception {
        try (SqlServer server = Servers.require(database.start::get);
                TcpProxy proxy = TcpProxy.to(server)) {
            everyCallEndsInTime(server, proxy, Duration.ofSeconds(1)); // longer than pools trust an idle connection
            proxy.heal();
        }
    }

    private static void everyCallEndsInTime(SqlServer server, TcpProxy proxy, Duration idle) throws Exception {
        Map<Way, LockClient> clients = new TreeMap<>();
        Map<String, Duration> taken = new ConcurrentHashMap<>();
        Map<String, Duration> bounds = new ConcurrentHashMap<>();
        List<Thread> threads = new ArrayList<>();
        try {
            for (Way way : Way.values()) {
                clients.put(way, open(server, proxy, way.name()));
            }
            for (Map.Entry<Way, LockClient> each : clients.entrySet()) {
                Way way = each.getKey();
                LockClient client = each.getValue();
                threads.add(new Thread(() -> {
                    DistributedLock held = client.lock(Way.held(client));
                    held.lock();
                    held.lock();
                    if (way == Way.UNLOCK) {
                        held.unlock(); // of two counts the last one is a request
                    }
                    await(idle, proxy, threads.size());
                    for (int time = 1; time <= (way == Way.UNLOCK ? 1 : 2); time++) {
                        String what = way + " " + time;
                        bounds.put(what, way.bound());
                        taken.put(what, time(client, way));
                    }
                }));
            }
            started = 0;
            threads.forEach(Thread::start);
            for (Thread thread : threads) {
                thread.join();
            }
            SoftAssertions.assertSoftly(all -> taken.forEach((what, time) -> all.assertThat(time)
                    .as(what + " after idle " + idle + " of " + new TreeMap<>(taken))
                    .isLessThan(bounds.get(what))));
            assertThat(taken).hasSameSizeAs(bounds).isNotEmpty();
        } finally {
            proxy.heal();
            clients.values().forEach(LockClient::close);
        }
    }

    private static int started; // guarded by the class

    /** The last that arrives makes the link silent. */
    private static void await(Duration idle, TcpProxy proxy, int all) {
        try {
            synchronized (SilentEngineTest.class) {
                if (++started == all) {
                    TimeUnit.MILLISECONDS.sleep(idle.toMillis());
                    proxy.blackHole();
                    SilentEngineTest.class.notifyAll();
                }
                while (started < all) {
                    SilentEngineTest.class.wait();
                }
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Duration time(LockClient client, Way way) {
        long start = System.nanoTime();
        try {
            way.call(client);
            throw new AssertionError(way + " did not fail");
        } catch (LockUnavailableException | ReleaseNotConfirmedException e) {
            return Duration.ofNanos(System.nanoTime() - start);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static LockClient open(SqlServer server, TcpProxy proxy, String name) {
        return LockClient.builder()
                .url(ServerDatabase.withUser(server.jdbcUrl(proxy.port()), SqlServer.USER, SqlServer.PASSWORD)
                        + "&lockstep.createSchema=true")
                .clientName(name)
                .ttl(Duration.ofMinutes(1))
                .requestTimeout(TIMEOUT)
                .connect();
    }
}
