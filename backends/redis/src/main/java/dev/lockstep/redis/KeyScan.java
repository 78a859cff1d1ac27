package dev.lockstep.redis;

import dev.lockstep.LockInfo;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol;

/** Finds locks by their keys: by SCAN, a little at a time, so that the server goes on serving others. */
final class KeyScan {
    private static final Logger log = LoggerFactory.getLogger(KeyScan.class);
    private static final int STEP = 1_000;

    private KeyScan() {}

    /** Tells who holds and who waits for the locks of a namespace whose names begin with a prefix. */
    static List<LockInfo> locks(Link link, Dialect dialect, String namespace, String prefix, long deadlineNanos)
            throws Failure {
        List<String> names = names(link, namespace, prefix, dialect.keyType(), deadlineNanos);
        List<LockInfo> infos = new ArrayList<>();
        for (Map.Entry<String, Reply<LockInfo>> entry :
                dialect.inspect(names, deadlineNanos).entrySet()) {
            try {
                infos.add(entry.getValue().get());
            } catch (Failure e) {
                if (!e.isOfWrongType()) {
                    throw e;
                }
                log.warn(
                        "Lock '{}' is not listed: another program has written to one of its keys. {}",
                        entry.getKey(),
                        e.getMessage());
            }
        }
        return infos;
    }

    /**
     * The names of the locks of a namespace that begin with a prefix.
     *
     * @param type the type of keys that tell of a lock; locks of another kind in the same namespace have another
     */
    private static List<String> names(Link link, String namespace, String prefix, String type, long deadlineNanos)
            throws Failure {
        Set<String> names = new LinkedHashSet<>();
        byte[] pattern = Dialect.bytes(LockKeys.pattern(namespace, prefix));
        link.callAll(deadlineNanos, connection -> {
            byte[] cursor = Dialect.bytes(0);
            do {
                List<?> reply = (List<?>) connection.executeCommand(scan(cursor, pattern, type));
                cursor = (byte[]) reply.get(0);
                for (Object key : (List<?>) reply.get(1)) {
                    String name = LockKeys.nameOf(namespace, Dialect.text(key));
                    if (name != null && name.startsWith(prefix)) {
                        names.add(name);
                    }
                }
            } while (!new String(cursor, StandardCharsets.US_ASCII).equals("0"));
            return true;
        });
        return new ArrayList<>(names);
    }

    private static CommandArguments scan(byte[] cursor, byte[] pattern, String type) {
        return new CommandArguments(Protocol.Command.SCAN)
                .add(cursor)
                .add(Protocol.Keyword.MATCH)
                .add(pattern)
                .add(Protocol.Keyword.COUNT)
                .add(STEP)
                .add(Protocol.Keyword.TYPE)
                .add(type);
    }
}
