package dev.lockstep.torture;

import dev.lockstep.servers.H2Server;
import dev.lockstep.servers.MySqlServer;
import dev.lockstep.servers.PostgresServer;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;

/** An engine whose servers the torture starts itself. */
public enum Engine {
    /** The engine in this JVM, with clients in the place of processes. */
    MEMORY(() -> new MemoryRig(Duration.ofMillis(400), backend -> backend, client -> client)),

    /** One Redis server. */
    REDIS(() -> rig(new RedisTarget())),

    /** A Redis server with a replica, without which nothing is granted, and three Sentinels. */
    REDIS_SENTINEL(() -> rig(new SentinelTarget())),

    /** A Redis Cluster of three primaries, each with a replica without which nothing is granted. */
    REDIS_CLUSTER(() -> rig(new ClusterTarget(Engine.NAMESPACE))),

    /** Three independent Redis servers. */
    REDLOCK(() -> rig(new RedlockTarget())),

    /** An ensemble of three. */
    ZOOKEEPER(() -> rig(new ZooKeeperTarget())),

    /** A cluster of three. */
    ETCD(() -> rig(new EtcdTarget())),

    /** One PostgreSQL server. */
    POSTGRESQL(Engine::postgres),

    /** One MariaDB server. */
    MARIADB(() -> mySql("mariadb", MySqlServer.mariaDb().durable())),

    /** One MySQL server. */
    MYSQL(() -> mySql("mysql", MySqlServer.builder().durable())),

    /** One H2 server. */
    H2(Engine::h2),

    /** A file. */
    SQLITE(() -> rig(new SqliteTarget()));

    private static final String NAMESPACE = "torture";

    private final Supplier<Rig> start;

    Engine(Supplier<Rig> start) {
        this.start = start;
    }

    private static Rig rig(Target target) {
        return new ProcessRig(target, NAMESPACE);
    }

    private static Rig postgres() {
        Machines machine = new Machines(1);
        PostgresServer.Builder builder = PostgresServer.builder().durable();
        return rig(new SqlTarget(
                "postgresql",
                machine.get(0).map(builder::on).orElse(builder).start(),
                machine,
                List.of("CREATE USER torture PASSWORD 'torture' SUPERUSER"),
                "SELECT CAST(pg_terminate_backend(pid) AS text) FROM pg_stat_activity"
                        + " WHERE pid <> pg_backend_pid() AND datname = current_database()"));
    }

    private static Rig h2() {
        Machines machine = new Machines(1);
        H2Server.Builder builder = H2Server.builder();
        return rig(new SqlTarget(
                "h2",
                machine.get(0).map(builder::on).orElse(builder).start(),
                machine,
                List.of("CREATE USER torture PASSWORD 'torture' ADMIN"),
                "SELECT CAST(ABORT_SESSION(SESSION_ID) AS VARCHAR) FROM INFORMATION_SCHEMA.SESSIONS"
                        + " WHERE SESSION_ID <> SESSION_ID()"));
    }

    private static Rig mySql(String name, MySqlServer.Builder builder) {
        Machines machine = new Machines(1);
        return rig(new SqlTarget(
                name,
                machine.get(0).map(builder::on).orElse(builder).start(),
                machine,
                List.of("CREATE USER torture IDENTIFIED BY 'torture'", "GRANT ALL ON *.* TO torture"),
                "SELECT CONCAT('KILL ', id) FROM information_schema.processlist WHERE id <> CONNECTION_ID()"));
    }

    /** Starts its servers. */
    Rig start() {
        return start.get();
    }

    /** Its name as people write it, and as reports have it. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
