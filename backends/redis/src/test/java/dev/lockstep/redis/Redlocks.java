package dev.lockstep.redis;

import dev.lockstep.LockClient;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Several independent servers, and clients of them with and without proxies in between. */
final class Redlocks implements AutoCloseable {
    private final List<RedisServer> servers;
    private final List<AutoCloseable> opened = new ArrayList<>();

    private Redlocks(List<RedisServer> servers) {
        this.servers = servers;
    }

    /** Starts servers that vote at once, as if they had long been up. */
    static Redlocks start(int count) {
        return new Redlocks(start(count, RedisServer.builder()));
    }

    /** Servers that are there, and are closed with it. */
    static Redlocks of(List<RedisServer> servers) {
        return new Redlocks(servers);
    }

    static List<RedisServer> start(int count, RedisServer.Builder builder) {
        List<RedisServer> servers = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            servers.add(Servers.require(builder::start));
        }
        servers.forEach(server -> age(server, count));
        return servers;
    }

    /** Lets a server be old enough to vote. */
    static void age(RedisServer server, int count) {
        server.command(
                "HSET",
                "lockstep:redlock",
                "run",
                server.info("run_id"),
                "born",
                "1",
                "servers",
                Integer.toString(count));
    }

    static String url(List<RedisServer> servers) {
        return servers.stream().map(RedisServer::address).collect(Collectors.joining(",", "redlock://", ""));
    }

    List<RedisServer> servers() {
        return servers;
    }

    RedisServer server(int index) {
        return servers.get(index);
    }

    /** The value of a field of a key on each server; empty where there is none. */
    List<String> field(String key, String name) {
        return servers.stream().map(server -> server.command("HGET", key, name)).toList();
    }

    LockClient client(Duration ttl) {
        return client(url(servers), ttl, Duration.ofSeconds(2));
    }

    /** A client with a proxy of its own to each server. */
    LockClient client(List<TcpProxy> proxies, Duration ttl, Duration requestTimeout) {
        String url = proxies.stream()
                .map(proxy -> "127.0.0.1:" + proxy.port())
                .collect(Collectors.joining(",", "redlock://", ""));
        return client(url, ttl, requestTimeout);
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

    synchronized List<TcpProxy> proxies() {
        List<TcpProxy> proxies = IntStream.range(0, servers.size())
                .mapToObj(i -> TcpProxy.to(servers.get(i)))
                .toList();
        opened.addAll(proxies);
        return proxies;
    }

    /** Closes clients first, proxies then, and the servers last. */
    @Override
    public void close() throws Exception {
        List<AutoCloseable> all;
        synchronized (this) {
            all = List.copyOf(opened);
        }
        for (AutoCloseable one : all) {
            one.close();
        }
        servers.forEach(RedisServer::close);
    }
}
