package dev.lockstep.torture;

import dev.lockstep.servers.MySqlServer;
import dev.lockstep.servers.PostgresServer;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;

/** An engine whose servers the torture starts itself. */
public enum Engine {
    /** The engine in this JVM, with clients in the place of processes. */
    MEMORY(() -> new MemoryRig(Duration.ofMillis(400), backend -> backend)),

    /** One Redis server. */
    REDIS(() -> rig(new RedisTarget())),

    /** A Redis server with a replica, without which nothing is granted, and three Sentinels. */
    REDIS_SENTINEL(() -> rig(new SentinelTarget())),

    /** An ensemble of three. */
    ZOOKEEPER(() -> rig(new ZooKeeperTarget())),

    /** A cluster of three. */
    ETCD(() -> rig(new EtcdTarget())),

    /** One PostgreSQL server. */
    POSTGRESQL(() -> rig(new SqlTarget(
            "postgresql",
            postgres().start(),
            List.of("CREATE USER torture PASSWORD 'torture' SUPERUSER"),
            "SELECT CAST(pg_terminate_backend(pid) AS text) FROM pg_stat_activity"
                    + " WHERE pid <> pg_backend_pid() AND datname = current_database()"))),

    /** One MariaDB server. */
    MARIADB(() -> mySql("mariadb", MySqlServer.mariaDb())),

    /** One MySQL server. */
    MYSQL(() -> mySql("mysql", MySqlServer.builder())),

    /** A file. */
    SQLITE(() -> rig(new SqliteTarget()));

    private final Supplier<Rig> start;

    Engine(Supplier<Rig> start) {
        this.start = start;
    }

    private static Rig rig(Target target) {
        return new ProcessRig(target, "torture");
    }

    private static PostgresServer.Builder postgres() {
        PostgresServer.Builder builder = PostgresServer.builder();
        return ServerFaults.canShiftClocks() ? builder.ownClock() : builder;
    }

    private static Rig mySql(String name, MySqlServer.Builder builder) {
        return rig(new SqlTarget(
                name,
                (ServerFaults.canShiftClocks() ? builder.ownClock() : builder).start(),
                List.of("CREATE USER torture IDENTIFIED BY 'torture'", "GRANT ALL ON *.* TO torture"),
                "SELECT CONCAT('KILL ', id) FROM information_schema.processlist WHERE id <> CONNECTION_ID()"));
    }

    /** Starts its servers. */
    Rig start() {
        return start.get();
    }
}
