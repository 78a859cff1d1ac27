package dev.lockstep.redis;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol;

/** Finds locks by their keys: by SCAN, a little at a time, so that the server goes on serving others. */
final class KeyScan {
    private static final int STEP = 1_000;

    private KeyScan() {}

    /**
     * The names of the locks of a namespace that begin with a prefix.
     *
     * @param type the type of keys that tell of a lock; locks of another kind in the same namespace have another
     */
    static List<String> names(Link link, String namespace, String prefix, String type, long deadlineNanos)
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
