package dev.lockstep.memory;

import dev.lockstep.spi.LockBackend;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/** The watchers of locks, which are notified when the holders may have changed. Safe for use by many threads. */
final class Watchers {
    private final Map<String, List<Watcher>> byName = new ConcurrentHashMap<>();

    /** Whether there ever was one: until then, taking or releasing a lock only checks this. */
    private volatile boolean any;

    /** One of them, behind the wire to its client. */
    private record Watcher(Link link, Runnable changed) {}

    boolean isAny() {
        return any;
    }

    LockBackend.Watch add(String name, Link link, Runnable changed) {
        Watcher watcher = new Watcher(link, changed);
        byName.merge(
                name,
                List.of(watcher),
                (known, added) -> Stream.concat(known.stream(), added.stream()).toList());
        any = true;
        return () -> byName.computeIfPresent(name, (same, known) -> {
            List<Watcher> left =
                    known.stream().filter(other -> other != watcher).toList();
            return left.isEmpty() ? null : left;
        });
    }

    /** Notifies the watchers of a lock. Not while a monitor is held. */
    void changed(String name) {
        for (Watcher watcher : byName.getOrDefault(name, List.of())) {
            watcher.link.toClient(watcher.changed);
        }
    }
}
