package dev.lockstep.benchmarks;

import dev.lockstep.servers.EtcdServer;
import dev.lockstep.servers.H2Server;
import dev.lockstep.servers.MySqlServer;
import dev.lockstep.servers.PostgresServer;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.ServerProcess;
import dev.lockstep.servers.SqlServer;
import dev.lockstep.servers.TcpProxy;
import dev.lockstep.servers.TempDirs;
import dev.lockstep.servers.ZooKeeperServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.DoubleSupplier;
import java.util.function.IntFunction;
import java.util.stream.Stream;
import org.apache.zookeeper.Version;
import org.jspecify.annotations.Nullable;

/** A server with nothing in it, in a process of its own, and a slow network in front of it. */
final class RunningEngine implements AutoCloseable {
    private static final Duration EACH_WAY = Duration.ofMillis(5);
    private static final DoubleSupplier NOT_COUNTED = () -> Double.NaN;

    private final @Nullable ServerProcess server;
    private final @Nullable TcpProxy proxy;
    private final IntFunction<String> url;
    private final DoubleSupplier requests;
    private final Map<String, String> settings;
    private final Runnable end;

    /** An engine that is reached without a network. */
    RunningEngine(IntFunction<String> url, DoubleSupplier requests, Runnable end) {
        this(null, url, requests, Map.of(), end);
    }

    private RunningEngine(
            @Nullable ServerProcess server,
            IntFunction<String> url,
            DoubleSupplier requests,
            Map<String, String> settings,
            Runnable end) {
        this.server = server;
        this.url = url;
        this.requests = requests;
        this.settings = settings;
        this.end = end;
        proxy = server == null ? null : TcpProxy.to(server);
        if (proxy != null) {
            proxy.delay(EACH_WAY);
        }
    }

    static RunningEngine start(Engine engine) {
        return switch (engine) {
            case MEMORY -> new RunningEngine(port -> "memory:benchmark", NOT_COUNTED, () -> {});
            case REDIS -> redis(RedisServer.builder().start());
            case REDIS_AOF -> redis(RedisServer.builder().persistent().start());
            case ZOOKEEPER -> zookeeper(ZooKeeperServer.builder().durable().start());
            case ETCD -> etcd(EtcdServer.builder().start());
            case POSTGRESQL -> {
                PostgresServer server = PostgresServer.builder().durable().start();
                yield sql(
                        server,
                        new SqlProbe(
                                server.jdbcUrl(),
                                SqlServer.USER,
                                SqlServer.PASSWORD,
                                "SELECT sum(xact_commit + xact_rollback) FROM pg_stat_database",
                                "SELECT name, setting FROM pg_settings WHERE name IN"
                                        + " ('server_version', 'fsync', 'synchronous_commit', 'wal_sync_method')"));
            }
            case MARIADB -> mysql(MySqlServer.mariaDb().durable().start(), "information_schema");
            case MYSQL -> mysql(MySqlServer.mysql9().durable().start(), "performance_schema");
            case H2 -> {
                H2Server server = H2Server.builder().start();
                yield sql(
                        server,
                        new SqlProbe(
                                server.jdbcUrl(),
                                "bench",
                                "bench",
                                null,
                                "SELECT 'version', H2VERSION() UNION SELECT 'write_delay', SETTING_VALUE FROM"
                                        + " INFORMATION_SCHEMA.SETTINGS WHERE SETTING_NAME = 'WRITE_DELAY'"));
            }
            case SQLITE -> sqlite();
        };
    }

    private static RunningEngine mysql(MySqlServer server, String schema) {
        SqlProbe.makeUser(server, "bench");
        return sql(
                server,
                new SqlProbe(
                        server.jdbcUrl(),
                        "bench",
                        "bench",
                        "SELECT variable_value FROM " + schema + ".global_status WHERE variable_name = 'QUESTIONS'",
                        "SELECT lower(variable_name), variable_value FROM " + schema + ".global_variables WHERE"
                                + " variable_name IN ('VERSION', 'INNODB_FLUSH_LOG_AT_TRX_COMMIT', 'SYNC_BINLOG', 'LOG_BIN')"));
    }

    /** A file that all clients open; there is no server. */
    private static RunningEngine sqlite() {
        Path folder = TempDirs.create("sqlite");
        String url = "jdbc:sqlite:" + folder.resolve("locks.db");
        return new RunningEngine(port -> url, NOT_COUNTED, () -> {
            try {
                TempDirs.delete(folder);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    private static RunningEngine redis(RedisServer server) {
        Map<String, String> settings = new LinkedHashMap<>();
        settings.put("version", server.info("redis_version"));
        for (String name : List.of("appendonly", "appendfsync", "save")) {
            String[] lines = server.command("CONFIG", "GET", name).split("\n", -1);
            settings.put(name, lines.length > 1 && !lines[1].isBlank() ? lines[1].strip() : "none");
        }
        return new RunningEngine(
                server, port -> "redis://127.0.0.1:" + port, () -> redisRequests(server), settings, server::close);
    }

    /** Commands of clients. All that is measured here works by scripts and messages; what scripts do is not counted. */
    private static double redisRequests(RedisServer server) {
        double sum = 0;
        for (String command : List.of("eval", "evalsha", "subscribe", "unsubscribe", "psubscribe", "punsubscribe")) {
            String statistics = server.info("cmdstat_" + command);
            if (statistics.startsWith("calls=")) {
                sum += Double.parseDouble(statistics.substring("calls=".length(), statistics.indexOf(',')));
            }
        }
        return sum;
    }

    private static RunningEngine zookeeper(ZooKeeperServer server) {
        Map<String, String> settings = new LinkedHashMap<>();
        settings.put("version", Version.getVersion());
        settings.put("forceSync", "yes");
        return new RunningEngine(
                server,
                port -> "zookeeper://127.0.0.1:" + port,
                () -> server.metric("zk_packets_received"),
                settings,
                server::close);
    }

    private static RunningEngine etcd(EtcdServer server) {
        String build = server.metrics()
                .lines()
                .filter(line -> line.startsWith("etcd_server_version{"))
                .findFirst()
                .map(line -> line.replaceAll(".*\"(.*)\".*", "$1"))
                .orElse("unknown");
        return new RunningEngine(
                server,
                port -> "etcd://127.0.0.1:" + port,
                () -> server.metric("grpc_server_msg_received_total", ""),
                Map.of("version", build, "unsafe-no-fsync", "not set"),
                server::close);
    }

    private static RunningEngine sql(SqlServer server, SqlProbe probe) {
        return new RunningEngine(
                server, port -> probe.withUser(server.jdbcUrl(port)), probe::requests, probe.settings(), server::close);
    }

    /** Where clients connect. */
    String url(boolean delayed) {
        if (server == null || proxy == null) {
            return url.apply(0);
        }
        return url.apply(delayed ? proxy.port() : server.port());
    }

    /** How many requests the server has had; NaN if it does not count them, or there is none. */
    double requests() {
        return requests.getAsDouble();
    }

    /** How much of the processors the server has used, in microseconds; NaN if there is none. */
    double cpuMicros() {
        if (server == null) {
            return Double.NaN;
        }
        return ProcessHandle.of(server.pid()).stream()
                .flatMap(process -> Stream.concat(Stream.of(process), process.descendants()))
                .flatMap(process -> process.info().totalCpuDuration().stream())
                .mapToDouble(used -> used.toNanos() / 1e3)
                .sum();
    }

    /** Whether the server counts a request when it comes; PostgreSQL's processes report theirs a second later or more. */
    boolean countsAtOnce() {
        return !(server instanceof PostgresServer);
    }

    /** The server's version, and what it does for durability. */
    Map<String, String> settings() {
        return settings;
    }

    @Override
    public void close() {
        if (proxy != null) {
            proxy.close();
        }
        end.run();
    }
}
