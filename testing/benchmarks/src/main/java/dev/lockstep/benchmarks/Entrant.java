package dev.lockstep.benchmarks;

import static dev.lockstep.benchmarks.Workload.E1;
import static dev.lockstep.benchmarks.Workload.MULTI10;
import static dev.lockstep.benchmarks.Workload.MULTI1000;
import static dev.lockstep.benchmarks.Workload.MULTI200000;
import static dev.lockstep.benchmarks.Workload.P1;
import static dev.lockstep.benchmarks.Workload.P2;
import static dev.lockstep.benchmarks.Workload.W1;
import static dev.lockstep.benchmarks.Workload.W2;
import static dev.lockstep.benchmarks.Workload.W3;
import static dev.lockstep.benchmarks.Workload.W4;
import static dev.lockstep.benchmarks.Workload.W5;
import static dev.lockstep.benchmarks.Workload.W6;
import static dev.lockstep.benchmarks.Workload.W7;
import static dev.lockstep.benchmarks.Workload.W8;
import static dev.lockstep.benchmarks.Workload.W9A;
import static dev.lockstep.benchmarks.Workload.W9B;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * A contender and the workloads that it runs.
 *
 * @param name what tables call it
 * @param kind what it is compared as
 * @param type its class
 * @param variant what its class gets as an argument
 * @param library the artifact whose version is shown, or nothing
 * @param workloads the workloads that it runs
 */
record Entrant(String name, Kind kind, String type, String variant, String library, Set<Workload> workloads) {
    /** The role of an entrant in comparisons. */
    enum Kind {
        LOCKSTEP,
        YARDSTICK,
        PEER
    }

    static final String LOCKSTEP = "Lockstep";
    static final String STICKY = "Lockstep, sticky";
    static final String FAIR = "Lockstep, fair";
    static final String FLOOR = "floor";
    static final String REDISSON = "Redisson RLock";
    static final String CURATOR = "Curator InterProcessMutex";
    static final String JETCD = "jetcd Lock";
    static final String SPRING_JDBC = "Spring JdbcLockRegistry";

    private static final String OWN = "dev.lockstep.benchmarks.contenders.";
    private static final String PEERS = "dev.lockstep.benchmarks.peers.";
    private static final Set<Workload> EXCLUSIVE = EnumSet.of(W1, W2, W3, W4, W5, W6, W7, W9A, W9B);
    private static final Set<Workload> WITHOUT_RENEWAL = EnumSet.of(W1, W2, W3, W4, W5, W6, W9A, W9B);
    private static final Set<Workload> PERMITS = EnumSet.of(P1, P2);
    private static final Set<Workload> NOBODY_WAITS = EnumSet.of(W1, W2, W9A);

    /** The folder of the peers' class path, or nothing if it runs on that of this process. */
    String classPath() {
        return type.startsWith(PEERS) ? type.substring(PEERS.length(), type.lastIndexOf('.')) : "";
    }

    /** The entrants on an engine. */
    static List<Entrant> of(Engine engine) {
        List<Entrant> all = new ArrayList<>(own(engine));
        all.addAll(
                switch (engine) {
                    case MEMORY -> List.of();
                    case REDIS -> redis();
                    case REDIS_AOF -> List.of(floor("RedisFloor"));
                    case ZOOKEEPER -> zookeeper();
                    case ETCD ->
                        List.of(
                                floor("EtcdFloor"),
                                peer(JETCD, "etcd.Jetcd", "", "jetcd-core", EXCLUSIVE),
                                peer("jetcd Election", "etcd.Jetcd", "election", "jetcd-core", EnumSet.of(E1)));
                    case POSTGRESQL, MARIADB, MYSQL -> sql();
                    case H2 -> List.of(floor("SqlFloor"));
                    case SQLITE -> List.of();
                });
        return all;
    }

    private static List<Entrant> own(Engine engine) {
        boolean plain = engine == Engine.REDIS_AOF;
        Set<Workload> all = engine == Engine.MEMORY
                ? EnumSet.of(W1, W2, W3, W5, W6, W8)
                : plain || engine == Engine.SQLITE
                        ? EnumSet.of(W1, W2, W3, W4, W5)
                        : EnumSet.complementOf(EnumSet.of(P1, P2, E1));
        if (engine != Engine.REDIS) { // others would need minutes
            all.remove(MULTI200000);
        }
        List<Entrant> entrants = new ArrayList<>();
        entrants.add(lockstep(LOCKSTEP, "", all));
        if (plain) {
            return entrants;
        }
        entrants.add(lockstep(LOCKSTEP, "permit", PERMITS));
        entrants.add(lockstep(LOCKSTEP, "election", EnumSet.of(E1)));
        if (!engine.isPolled()) { // which cannot notify a holder of waiters
            entrants.add(lockstep(STICKY, "sticky", EnumSet.of(W1)));
        }
        EnumSet<Workload> inOrder = EnumSet.of(W3, W4, W5);
        inOrder.retainAll(all);
        entrants.add(lockstep(FAIR, "fair", inOrder));
        entrants.add(jdk("ReentrantLock", "", EnumSet.of(W1, W2, W3)));
        entrants.add(jdk("ReentrantReadWriteLock", "read-write", EnumSet.of(W8)));
        return entrants;
    }

    private static List<Entrant> redis() {
        return List.of(
                floor("RedisFloor"),
                peer(REDISSON, "redis.Redisson", "", "redisson", EXCLUSIVE),
                peer("Redisson FairLock", "redis.Redisson", "fair", "redisson", EnumSet.of(W1, W3, W4, W5)),
                peer("Redisson FencedLock", "redis.Redisson", "fenced", "redisson", EnumSet.of(W1, W3)),
                peer("Redisson ReadWriteLock", "redis.Redisson", "read-write", "redisson", EnumSet.of(W8)),
                peer("Redisson RSemaphore", "redis.Redisson", "semaphore", "redisson", PERMITS),
                peer("Redisson RPermitExpirableSemaphore", "redis.Redisson", "expirable", "redisson", PERMITS),
                peer("Redisson MultiLock", "redis.Redisson", "", "redisson", EnumSet.of(MULTI10, MULTI1000)),
                peer("Spring RedisLockRegistry", "redis.SpringRedis", "", "spring-integration-redis", EXCLUSIVE));
    }

    private static List<Entrant> zookeeper() {
        return List.of(
                floor("ZooKeeperFloor"),
                peer(CURATOR, "zookeeper.Curator", "", "curator-recipes", EXCLUSIVE),
                peer(
                        "Curator SemaphoreMutex",
                        "zookeeper.Curator",
                        "semaphore",
                        "curator-recipes",
                        EnumSet.of(W1, W3, W5)),
                peer("Curator ReadWriteLock", "zookeeper.Curator", "read-write", "curator-recipes", EnumSet.of(W8)),
                peer("Curator InterProcessSemaphoreV2", "zookeeper.Curator", "permits", "curator-recipes", PERMITS),
                peer("Curator LeaderLatch", "zookeeper.Curator", "latch", "curator-recipes", EnumSet.of(E1)));
    }

    private static List<Entrant> sql() {
        return List.of(
                floor("SqlFloor"),
                peer(SPRING_JDBC, "jdbc.SpringJdbc", "", "spring-integration-jdbc", WITHOUT_RENEWAL),
                peer("ShedLock", "jdbc.ShedLock", "", "shedlock-provider-jdbc-template", NOBODY_WAITS));
    }

    private static Entrant lockstep(String name, String variant, Set<Workload> workloads) {
        return new Entrant(name, Kind.LOCKSTEP, OWN + "Lockstep", variant, "", workloads);
    }

    private static Entrant jdk(String name, String variant, Set<Workload> workloads) {
        return new Entrant(name, Kind.YARDSTICK, OWN + "InJvm", variant, "", workloads);
    }

    private static Entrant floor(String type) {
        return new Entrant(FLOOR, Kind.YARDSTICK, OWN + type, "", "", NOBODY_WAITS);
    }

    private static Entrant peer(String name, String type, String variant, String library, Set<Workload> workloads) {
        return new Entrant(name, Kind.PEER, PEERS + type, variant, library, workloads);
    }
}
