package dev.lockstep.redis;

import dev.lockstep.LockInfo;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.spi.Scheduler;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol;

/**
 * Finds locks by their keys: by SCAN, a little at a time, so that the server goes on serving others, and until a deadline.
 */
final class KeyScan {
    private static final Logger log = LoggerFactory.getLogger(KeyScan.class);
    private static final int STEP = 1_000;

    private final Link link;
    private final Scheduler scheduler;
    private final long deadlineNanos;

    KeyScan(Link link, Scheduler scheduler, long deadlineNanos) {
        this.link = link;
        this.scheduler = scheduler;
        this.deadlineNanos = deadlineNanos;
    }

    /** Tells who holds and who waits for the locks of a namespace whose names begin with a prefix. */
    List<LockInfo> locks(Dialect dialect, String namespace, String prefix) throws Failure {
        // Locks of another kind in the same namespace have keys of another type.
        Set<String> names = find(LockKeys.pattern(namespace, prefix), dialect.keyType(), key -> {
            String name = LockKeys.nameOf(namespace, key);
            return name != null && name.startsWith(prefix) ? name : null;
        });
        List<LockKeys> locks =
                names.stream().map(name -> new LockKeys(namespace, name)).toList();
        List<LockInfo> infos = new ArrayList<>();
        for (Map.Entry<LockKeys, Reply<LockInfo>> entry :
                dialect.inspect(locks, deadlineNanos).entrySet()) {
            try {
                infos.add(entry.getValue().get());
            } catch (Failure e) {
                if (!e.isOfWrongType()) {
                    throw e;
                }
                log.warn(
                        "Lock '{}' is not listed: another program has written to one of its keys. {}",
                        entry.getKey().lockName(),
                        e.getMessage());
            }
        }
        return infos;
    }

    /** The namespaces of all locks, whatever their kind, that are used or were of late. */
    List<String> namespaces() throws Failure {
        return List.copyOf(find(LockKeys.anyPattern(), null, LockKeys::namespaceOf));
    }

    /**
     * Collects what keys tell.
     *
     * @param type the type of the keys; null for any
     * @param meaning what a key tells, null if nothing
     */
    private Set<String> find(String pattern, @Nullable String type, Function<String, @Nullable String> meaning)
            throws Failure {
        Set<String> found = new LinkedHashSet<>();
        byte[] bytes = Dialect.bytes(pattern);
        link.callAll(deadlineNanos, connection -> {
            byte[] cursor = Dialect.bytes(0);
            do {
                if (scheduler.nanoTime() - deadlineNanos >= 0) {
                    throw new LockUnavailableException(
                            null,
                            "Redis " + link.route() + " has so many keys that looking for those of locks takes longer"
                                    + " than the request timeout. Raise it for a client that lists.");
                }
                List<?> reply = (List<?>) connection.executeCommand(scan(cursor, bytes, type));
                cursor = (byte[]) reply.get(0);
                for (Object key : (List<?>) reply.get(1)) {
                    String meant = meaning.apply(Dialect.text(key));
                    if (meant != null) {
                        found.add(meant);
                    }
                }
            } while (!new String(cursor, StandardCharsets.US_ASCII).equals("0"));
            return true;
        });
        return found;
    }

    private static CommandArguments scan(byte[] cursor, byte[] pattern, @Nullable String type) {
        CommandArguments scan = new CommandArguments(Protocol.Command.SCAN)
                .add(cursor)
                .add(Protocol.Keyword.MATCH)
                .add(pattern)
                .add(Protocol.Keyword.COUNT)
                .add(STEP);
        return type == null ? scan : scan.add(Protocol.Keyword.TYPE).add(type);
    }
}
