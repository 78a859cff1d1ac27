package dev.lockstep.zookeeper;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.apache.zookeeper.Watcher.Event.EventType;

/**
 * The listeners for each node, in one session. ZooKeeper's client knows one watcher only, the session: it keeps
 * watchers until their event comes, so one for each claim would stay after claims that have given up. Safe for use by
 * many threads.
 */
final class Watches {
    /** Receives events of nodes, on ZooKeeper's event thread. */
    interface Listener {
        void changed(String path, EventType type);
    }

    private final Map<String, List<Listener>> listeners = new ConcurrentHashMap<>();

    void add(String path, Listener listener) {
        listeners.merge(
                path,
                List.of(listener),
                (known, added) -> known.contains(listener)
                        ? known
                        : Stream.concat(known.stream(), added.stream()).toList());
    }

    void remove(String path, Listener listener) {
        listeners.computeIfPresent(path, (same, known) -> {
            List<Listener> left =
                    known.stream().filter(other -> other != listener).toList();
            return left.isEmpty() ? null : left;
        });
    }

    void fire(String path, EventType type) {
        for (Listener listener : listeners.getOrDefault(path, List.of())) {
            listener.changed(path, type);
        }
    }
}
