package dev.lockstep.benchmarks;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** An engine that keeps locks. */
enum Engine {
    MEMORY("memory"),
    REDIS("Redis"),
    REDIS_AOF("Redis, every write on disk"),
    ZOOKEEPER("ZooKeeper"),
    ETCD("etcd"),
    POSTGRESQL("PostgreSQL"),
    MARIADB("MariaDB"),
    MYSQL("MySQL"),
    H2("H2"),
    SQLITE("SQLite");

    final String title;

    Engine(String title) {
        this.title = title;
    }

    /** Whether it is a database that cannot push: waiters poll, and no holder hears that others wait. */
    boolean isPolled() {
        return this == MARIADB || this == MYSQL || this == H2 || this == SQLITE;
    }

    /** As it is written on the command line and in file names. */
    String id() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    static Optional<Engine> of(String id) {
        return Arrays.stream(values()).filter(engine -> engine.id().equals(id)).findFirst();
    }
}
