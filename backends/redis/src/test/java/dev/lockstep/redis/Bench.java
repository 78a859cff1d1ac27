package dev.lockstep.redis;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicReference;
import org.awaitility.Awaitility;

/** One server, and clients of it with and without a proxy in between. */
final class Bench implements AutoCloseable {
    /** How long tests wait for what must happen soon, and how long a request may take where no test is about it. */
    static final Duration PATIENCE = Duration.ofSeconds(20);

    private static final Duration LONG_TTL = Duration.ofMinutes(10);

    private final RedisServer server;
    private final List<AutoCloseable> opened = new ArrayList<>();

    Bench(RedisServer server) {
        this.server = server;
    }

    RedisServer server() {
        return server;
    }

    /** A client with a short ttl and short timeouts. */
    LockClient client(String options) {
        return client("redis://" + server.address() + options, Duration.ofSeconds(2));
    }

    LockClient client(TcpProxy proxy, String options) {
        return client("redis://127.0.0.1:" + proxy.port() + options, Duration.ofSeconds(2));
    }

    LockClient client(String url, Duration ttl) {
        return client(url, ttl, Duration.ofSeconds(1));
    }

    /** A client for tests that wait for neither a ttl nor a timeout: nothing ends while a busy machine pauses. */
    LockClient patientClient(String options) {
        return client(server.url() + options, LONG_TTL, PATIENCE);
    }

    LockClient patientClient(TcpProxy proxy) {
        return client("redis://127.0.0.1:" + proxy.port(), LONG_TTL, PATIENCE);
    }

    /** A client for tests that wait for a timeout but not for a ttl. */
    LockClient clientGivingUpSoon(String url) {
        return client(url, LONG_TTL, Duration.ofSeconds(3));
    }

    synchronized LockClient client(String url, Duration ttl, Duration requestTimeout) {
        LockClient client = LockClient.builder()
                .url(url)
                .ttl(ttl)
                .requestTimeout(requestTimeout)
                .retryBackoff(Duration.ofMillis(10), Duration.ofMillis(100))
                .connect();
        opened.add(0, client);
        return client;
    }

    synchronized TcpProxy proxy() {
        TcpProxy proxy = TcpProxy.to(server);
        opened.add(proxy);
        return proxy;
    }

    static void await(String what, Callable<Boolean> condition) {
        Awaitility.await(what)
                .atMost(PATIENCE)
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(2))
                .until(condition);
    }

    /** Lets a time pass that is itself what the test is about. */
    static void letPass(Duration time) {
        Awaitility.await("a time that the test is about")
                .pollDelay(time)
                .atMost(time.plus(PATIENCE))
                .until(() -> true);
    }

    /** Waits until what remains of a lease has become more between one look and the next. */
    static void awaitRenewal(Lease lease) {
        AtomicReference<Duration> last = new AtomicReference<>(lease.remaining());
        await("it is renewed", () -> {
            Duration remaining = lease.remaining();
            return remaining.compareTo(last.getAndSet(remaining)) > 0;
        });
    }

    static void awaitWaiters(LockClient observer, String lockName, int count) {
        await(count + " wait", () -> observer.inspect(lockName).waiters().size() == count);
    }

    /** The keys of all locks but those of unused ones, of which only a token is left. */
    List<String> keysInUse() {
        return server.command("KEYS", "lockstep:*")
                .lines()
                .filter(key -> !key.isEmpty())
                .filter(key -> !server.command("TYPE", key).equals("hash")
                        || !server.command("HKEYS", key).equals("token"))
                .toList();
    }

    /** Closes clients first, proxies then, and the server last. */
    @Override
    public void close() throws Exception {
        List<AutoCloseable> all;
        synchronized (this) {
            all = List.copyOf(opened);
        }
        for (AutoCloseable one : all) {
            one.close();
        }
        server.close();
    }
}
