package dev.lockstep.cli;

import java.util.Locale;

/** The subjects of {@code explain}: an engine, and one of the ways in which it locks. */
enum Algorithm {
    MEMORY(Family.MEMORY, "AX BX CX A- B- C-", "A queue in the JVM, first come, first served."),
    MEMORY_SEMAPHORE(
            Family.MEMORY, Algorithm.TWO_PERMITS, "As memory, with a limit: up to that many claims hold a permit."),
    MEMORY_ELECTION(Family.MEMORY, Algorithm.TWO_TERMS, Algorithm.ELECTION),
    ZOOKEEPER(
            Family.ZOOKEEPER,
            "AX BX CX A- B- C-",
            "Ephemeral sequential nodes: the first has the lock, each other watches the one before it."),
    ZOOKEEPER_PLAIN(
            Family.ZOOKEEPER, "AX BX A- B-", "One ephemeral node: its creator has the lock, the others watch it."),
    ZOOKEEPER_SHARED(
            Family.ZOOKEEPER,
            "AS BS CX DS A- B- C- D-",
            "Sequential nodes of two kinds: a reader watches the last writer before it, a writer the node before it."),
    ZOOKEEPER_SEMAPHORE(
            Family.ZOOKEEPER,
            Algorithm.TWO_PERMITS,
            "Sequential nodes with the limit in their names: the first nodes, up to the limit, have permits."),
    ZOOKEEPER_ELECTION(Family.ZOOKEEPER, Algorithm.TWO_TERMS, Algorithm.ELECTION),
    REDIS(
            Family.REDIS,
            "AX BX A- B-",
            "A hash has the owner, a sorted set the waiters. A release notifies the first of the waiters."),
    REDIS_PLAIN(Family.REDIS, "AX BX A- B-", "The textbook lock: one key with an expiry, and waiters that try again."),
    REDIS_FAIR(
            Family.REDIS,
            "AX BX CX A- B- C-",
            "As redis, but a release grants the lock to the first in the queue, in the same script."),
    REDIS_SHARED(
            Family.REDIS,
            "AS BS CX DS A- B- C- D-",
            "Readers are in a sorted set, by their expiry. No reader overtakes a waiting writer."),
    REDIS_SEMAPHORE(
            Family.REDIS,
            Algorithm.TWO_PERMITS,
            "As redis-shared, with a limit in the lock's hash: a release grants the permit to the first in the queue."),
    REDIS_ELECTION(Family.REDIS, Algorithm.TWO_TERMS, Algorithm.ELECTION),
    REDLOCK(
            Family.REDLOCK,
            "AX BX A- B-",
            "The keys of redis on each of several independent servers: the owner of a majority has the lock."),
    SQL(
            Family.SQL,
            "AX BX A- B-",
            "A row for each lock and one for each client; each waiter has a row in a third table."),
    SQL_FAIR(Family.SQL, "AX BX CX A- B- C-", "As sql, served by the tickets that were drawn on arrival."),
    SQL_SHARED(Family.SQL, "AS BS CX DS A- B- C- D-", "Each reader that holds the lock has a row among the claims."),
    SQL_SEMAPHORE(
            Family.SQL,
            Algorithm.TWO_PERMITS,
            "As sql-shared, with the limit in the lock's row and slots in the claims'."),
    SQL_ELECTION(Family.SQL, Algorithm.TWO_TERMS, Algorithm.ELECTION),
    ETCD(
            Family.ETCD,
            "AX BX CX A- B- C-",
            "A key for each claim, on a lease of its client: the lowest create revision has the lock, each other"
                    + " watches the key before it."),
    ETCD_SHARED(
            Family.ETCD,
            "AS BS CX DS A- B- C- D-",
            "Keys of two kinds in one queue: a reader waits for the last writer before it, a writer for the key"
                    + " before it."),
    ETCD_SEMAPHORE(
            Family.ETCD,
            Algorithm.TWO_PERMITS,
            "As etcd-shared, with the limit in the keys: each waiter watches the key whose end frees a permit for it."),
    ETCD_ELECTION(Family.ETCD, Algorithm.TWO_TERMS, Algorithm.ELECTION);

    /** How many permits the semaphores of the scenes have. */
    static final int PERMITS = 2;

    private static final String TWO_PERMITS = "AP BP CP B# A- C# B- C-";

    private static final String TWO_TERMS = "AL BL A- B-";

    private static final String ELECTION =
            "A fair lock with a task: its holder leads, and what candidates publish is stored with their claims.";

    /** Engines whose data is read in one way. */
    enum Family {
        MEMORY("memory:", "memory"),
        ZOOKEEPER("zookeeper://localhost:2181", "zookeeper"),
        REDIS("redis://localhost:6379", "redis"),
        REDLOCK("redlock://localhost:6379,localhost:6380,localhost:6381", "redlock"),
        SQL("jdbc:…", "jdbc"),
        ETCD("etcd://localhost:2379", "etcd");

        final String exampleUrl;
        final String scheme;

        Family(String exampleUrl, String scheme) {
            this.exampleUrl = exampleUrl;
            this.scheme = scheme;
        }

        boolean serves(String url) {
            return url.regionMatches(true, 0, scheme + ":", 0, scheme.length() + 1);
        }

        boolean isMemory() {
            return this == MEMORY;
        }

        /** Whether it can be explained without a server. */
        boolean isServerless() {
            return this == MEMORY || this == SQL;
        }
    }

    final Family family;

    /**
     * The steps of the clients, in order: asks exclusively (X), shared (S) or for a permit (P), asks for its slot (#),
     * stands for election (L), or releases (-).
     */
    final String scene;

    /** In a sentence, how it works. */
    final String about;

    Algorithm(Family family, String scene, String about) {
        this.family = family;
        this.scene = scene;
        this.about = about;
    }

    /** The name on the command line. */
    String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    boolean isFair() {
        return name().endsWith("_FAIR");
    }

    boolean isSemaphore() {
        return name().endsWith("_SEMAPHORE");
    }

    boolean isElection() {
        return name().endsWith("_ELECTION");
    }

    boolean isPlain() {
        return name().endsWith("_PLAIN");
    }

    /** The engine's URL for this way of locking. */
    String url(String given) {
        return isPlain() ? given + (given.contains("?") ? "&" : "?") + "queue=off" : given;
    }
}
