package dev.lockstep.examples.toy;

import dev.lockstep.HolderInfo;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The engine: a server as far as the backend can see. It has its own clock, compares before it changes, and forgets
 * what was not renewed. Safe for use by many threads.
 */
final class ToyStore {
    private static final Map<String, ToyStore> STORES = new ConcurrentHashMap<>();

    private final Map<String, Entry> entries = new HashMap<>();
    private long lastToken;

    /** The owner of a key, and its expiry. */
    record Entry(String owner, HolderInfo holder, long token, long expiresNanos) {}

    /** The store of a name in this JVM. */
    static ToyStore named(String name) {
        return STORES.computeIfAbsent(name, unused -> new ToyStore());
    }

    /** One client's way to the store. Every request blocks for a round trip, or fails. */
    static final class Connection {
        private final ToyStore store;
        private volatile Fault fault = Fault.NONE;

        Connection(ToyStore store) {
            this.store = store;
        }

        /** For tests: hurts the connection, or heals it. */
        void hurt(Fault now) {
            fault = now;
        }

        <T> T send(Request<T> request) throws IOException {
            if (fault == Fault.CUT) {
                throw new IOException("connection cut");
            }
            T answer = request.apply(store);
            if (fault == Fault.DEAF) {
                throw new IOException("no answer");
            }
            return answer;
        }
    }

    /** The operation that the store should perform. */
    @FunctionalInterface
    interface Request<T> {
        T apply(ToyStore store);
    }

    /** The faults of a connection. */
    enum Fault {
        NONE,
        /** Nothing arrives. */
        CUT,
        /** Everything arrives and is carried out, but no answer comes back. */
        DEAF
    }

    /** Gives a free key to an owner. Asked again by the same owner, it gives the same answer. */
    synchronized Optional<Entry> acquire(String key, String owner, HolderInfo holder, Duration ttl) {
        Entry present = live(key);
        if (present == null) {
            present = new Entry(owner, holder, ++lastToken, System.nanoTime() + ttl.toNanos());
            entries.put(key, present);
        }
        return present.owner().equals(owner) ? Optional.of(present) : Optional.empty();
    }

    /** Gives a key more time; false if the owner no longer has it. */
    synchronized boolean renew(String key, String owner, Duration ttl) {
        Entry present = live(key);
        if (present == null || !present.owner().equals(owner)) {
            return false;
        }
        entries.put(key, new Entry(owner, present.holder(), present.token(), System.nanoTime() + ttl.toNanos()));
        return true;
    }

    /** Frees a key if the owner has it. */
    synchronized boolean release(String key, String owner) {
        Entry present = live(key);
        return present != null && present.owner().equals(owner) && entries.remove(key) != null;
    }

    /** Frees a key if it is one of those to free, whichever client has it. */
    synchronized boolean delete(String key, Predicate<Entry> which) {
        Entry present = live(key);
        return present != null && which.test(present) && entries.remove(key) != null;
    }

    /** Frees all keys whose owner begins with something. */
    synchronized void releaseAll(String ownerPrefix) {
        entries.values().removeIf(entry -> entry.owner().startsWith(ownerPrefix));
    }

    synchronized Map<String, Entry> find(String keyPrefix) {
        Map<String, Entry> found = new TreeMap<>(entries);
        found.entrySet().removeIf(entry -> !entry.getKey().startsWith(keyPrefix) || live(entry.getKey()) == null);
        return found;
    }

    private @Nullable Entry live(String key) {
        Entry present = entries.get(key);
        if (present != null && System.nanoTime() - present.expiresNanos() >= 0) {
            entries.remove(key);
            return null;
        }
        return present;
    }
}
