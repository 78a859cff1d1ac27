package dev.lockstep.zookeeper;

import java.lang.ref.SoftReference;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The names that were listed for a page and belong on later pages, so that each page need not list the whole namespace:
 * ZooKeeper lists all children of a node, or none. It remembers one listing, as long as there is memory for it. Safe for use
 * by many threads.
 */
final class ListedNames {
    /** A listing that was not continued for so long is listed again. */
    private static final long KEPT_NANOS = TimeUnit.MINUTES.toNanos(1);

    private volatile SoftReference<@Nullable Rest> last = new SoftReference<>(null);

    /** The rest of a listing, after a node that was on a page. */
    private record Rest(String namespacePath, String prefix, String cursor, List<String> nodes, long nanos) {}

    /** Remembers the names that are left after a page. */
    void put(Keys keys, String prefix, String cursor, List<String> nodes, long now) {
        last = new SoftReference<>(new Rest(keys.namespacePath(), prefix, cursor, nodes, now));
    }

    /** The names after the page that ended so; empty if they have to be listed. */
    Optional<List<String>> after(Keys keys, String prefix, String cursor, long now) {
        Rest rest = last.get();
        return rest != null
                        && rest.namespacePath.equals(keys.namespacePath())
                        && rest.prefix.equals(prefix)
                        && rest.cursor.equals(cursor)
                        && now - rest.nanos < KEPT_NANOS
                ? Optional.of(rest.nodes)
                : Optional.empty();
    }
}
