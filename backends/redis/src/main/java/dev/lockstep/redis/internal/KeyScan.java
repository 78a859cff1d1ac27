package dev.lockstep.redis.internal;

import static dev.lockstep.redis.internal.Bytes.bytes;

import dev.lockstep.LockInfo;
import dev.lockstep.LockPage;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.spi.Scheduler;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol;

/**
 * Finds locks by their keys: by SCAN, a little at a time, so that the server continues to serve others, and until a deadline.
 */
public final class KeyScan {
    private static final Logger log = LoggerFactory.getLogger(KeyScan.class);
    static final int STEP = 1_000;

    private final Link link;
    private final Scheduler scheduler;
    private final long deadlineNanos;

    public KeyScan(Link link, Scheduler scheduler, long deadlineNanos) {
        this.link = link;
        this.scheduler = scheduler;
        this.deadlineNanos = deadlineNanos;
    }

    /** Returns the holders and waiters of the locks of a namespace whose names begin with a prefix. */
    public List<LockInfo> locks(Operators operators, String namespace, String prefix) throws Failure {
        // Locks of another kind in the same namespace have keys of another type.
        Search search = new Search(bytes(Keys.pattern(namespace, prefix)), operators.keyType());
        return inspect(operators, namespace, find(search, key -> nameOf(namespace, prefix, key)));
    }

    /**
     * Returns the holders and waiters of some of these locks. Takes a few steps, and then a few requests for all that
     * it found.
     *
     * @return the page, with locks that nobody uses; empty if the servers are not those of the cursor any more
     */
    public Optional<LockPage> page(Operators operators, String namespace, String prefix, PageCursor from, int limit)
            throws Failure {
        Search search = new Search(bytes(Keys.pattern(namespace, prefix)), operators.keyType());
        PageScan scan = new PageScan(search, from, limit, key -> nameOf(namespace, prefix, key));
        link.callAll(deadlineNanos, connection -> {
            scan.visit(connection);
            return true;
        });
        if (!scan.isValid()) {
            return Optional.empty();
        }
        List<LockInfo> infos = inspect(operators, namespace, scan.names());
        String next = scan.next();
        return Optional.of(next == null ? LockPage.last(infos) : LockPage.of(infos, next));
    }

    private static @Nullable String nameOf(String namespace, String prefix, String key) {
        String name = Keys.nameOf(namespace, key);
        return name != null && name.startsWith(prefix) ? name : null;
    }

    private List<LockInfo> inspect(Operators operators, String namespace, Set<String> names) throws Failure {
        List<Keys> locks = names.stream().map(name -> new Keys(namespace, name)).toList();
        List<LockInfo> infos = new ArrayList<>();
        for (Map.Entry<Keys, Reply<LockInfo>> entry :
                operators.inspect(locks, deadlineNanos).entrySet()) {
            try {
                infos.add(entry.getValue().get());
            } catch (Failure e) {
                if (!e.isOfWrongType()) {
                    throw e;
                }
                log.warn(
                        "Lock '{}' is not listed: another program or version has written to one of its keys. {}",
                        entry.getKey().lockName(),
                        e.getMessage());
            }
        }
        return infos;
    }

    /** The namespaces of all locks, whatever their kind, that are used or were of late. */
    public List<String> namespaces() throws Failure {
        return List.copyOf(find(new Search(bytes(Keys.anyPattern()), null), Keys::namespaceOf));
    }

    /**
     * Which keys are looked for.
     *
     * @param pattern the pattern of their names
     * @param type their type; null for any
     */
    record Search(byte[] pattern, @Nullable String type) {
        /** One step. */
        CommandArguments command(byte[] cursor, int count) {
            CommandArguments scan = new CommandArguments(Protocol.Command.SCAN)
                    .add(cursor)
                    .add(Protocol.Keyword.MATCH)
                    .add(pattern)
                    .add(Protocol.Keyword.COUNT)
                    .add(count);
            return type == null ? scan : scan.add(Protocol.Keyword.TYPE).add(type);
        }
    }

    /**
     * Collects the meanings of keys.
     *
     * @param meaning the meaning of a key, null if none
     */
    private Set<String> find(Search search, Function<String, @Nullable String> meaning) throws Failure {
        Set<String> found = new LinkedHashSet<>();
        link.callAll(deadlineNanos, connection -> {
            byte[] cursor = bytes(PageCursor.START);
            do {
                if (scheduler.nanoTime() - deadlineNanos >= 0) {
                    throw new LockUnavailableException(
                            null,
                            "Redis " + link.route() + " has so many keys that looking for those of locks takes longer"
                                    + " than the request timeout. Raise it for a client that lists.");
                }
                List<?> reply = (List<?>) connection.executeCommand(search.command(cursor, STEP));
                cursor = (byte[]) reply.get(0);
                for (Object key : (List<?>) reply.get(1)) {
                    String meant = meaning.apply(Bytes.text(key));
                    if (meant != null) {
                        found.add(meant);
                    }
                }
            } while (!new String(cursor, StandardCharsets.US_ASCII).equals("0"));
            return true;
        });
        return found;
    }
}
