package dev.lockstep.torture;

import dev.lockstep.servers.H2Server;
import dev.lockstep.servers.HostFaults;
import dev.lockstep.servers.MySqlServer;
import dev.lockstep.servers.PostgresServer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** An engine whose servers the torture starts itself. */
public enum Engine {
    /** The engine in this JVM, with clients in the place of processes. */
    MEMORY(() -> new MemoryRig(Duration.ofMillis(400), backend -> backend)),

    /** One Redis server. */
    REDIS(() -> rig(new RedisTarget())),

    /** A Redis server with a replica, without which nothing is granted, and three Sentinels. */
    REDIS_SENTINEL(() -> rig(new SentinelTarget())),

    /** Three independent Redis servers. */
    REDLOCK(() -> rig(new RedlockTarget())),

    /** An ensemble of three. */
    ZOOKEEPER(() -> rig(new ZooKeeperTarget())),

    /** A cluster of three. */
    ETCD(() -> rig(new EtcdTarget())),

    /** One PostgreSQL server. */
    POSTGRESQL(Engine::postgres),

    /** One MariaDB server. */
    MARIADB(() -> mySql("mariadb", MySqlServer.mariaDb())),

    /** One MySQL server. */
    MYSQL(() -> mySql("mysql", MySqlServer.builder())),

    /** One H2 server. */
    H2(Engine::h2),

    /** A file. */
    SQLITE(() -> rig(new SqliteTarget()));

    private final Supplier<Rig> start;

    Engine(Supplier<Rig> start) {
        this.start = start;
    }

    private static Rig rig(Target target) {
        return new ProcessRig(target, "torture");
    }

    private static Rig postgres() {
        Optional<HostFaults> host = ServerFaults.host();
        PostgresServer.Builder builder = PostgresServer.builder();
        return rig(new SqlTarget(
                "postgresql",
                host.map(builder::on).orElse(builder).start(),
                host,
                List.of("CREATE USER torture PASSWORD 'torture' SUPERUSER"),
                "SELECT CAST(pg_terminate_backend(pid) AS text) FROM pg_stat_activity"
                        + " WHERE pid <> pg_backend_pid() AND datname = current_database()"));
    }

    private static Rig h2() {
        Optional<HostFaults> host = ServerFaults.host();
        H2Server.Builder builder = H2Server.builder();
        return rig(new SqlTarget(
                "h2",
                host.map(builder::on).orElse(builder).start(),
                host,
                List.of("CREATE USER torture PASSWORD 'torture' ADMIN"),
                "SELECT CAST(ABORT_SESSION(SESSION_ID) AS VARCHAR) FROM INFORMATION_SCHEMA.SESSIONS"
                        + " WHERE SESSION_ID <> SESSION_ID()"));
    }

    private static Rig mySql(String name, MySqlServer.Builder builder) {
        Optional<HostFaults> host = ServerFaults.host();
        return rig(new SqlTarget(
                name,
                host.map(builder::on).orElse(builder).start(),
                host,
                List.of("CREATE USER torture IDENTIFIED BY 'torture'", "GRANT ALL ON *.* TO torture"),
                "SELECT CONCAT('KILL ', id) FROM information_schema.processlist WHERE id <> CONNECTION_ID()"));
    }

    /** Starts its servers. */
    Rig start() {
        return start.get();
    }
}
