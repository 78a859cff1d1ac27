package dev.lockstep.redis.internal;

import static dev.lockstep.redis.internal.Bytes.bytes;
import static dev.lockstep.redis.internal.Bytes.text;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;

/**
 * Finds the names of one page by SCAN, from one server to the next, and ends after some steps though it may have found few.
 * Used once, by one thread.
 */
final class PageScan {
    /** How many steps a page may take: a page of a server with few locks among many other keys may be empty. */
    private static final int STEPS = 25;

    private static final int SMALLEST_STEP = 10;

    private final KeyScan.Search search;
    private final PageCursor from;
    private final int limit;
    private final Function<String, @Nullable String> meaning;
    private final List<String> servers = new ArrayList<>();
    private final Set<String> names = new LinkedHashSet<>();
    private int steps;
    private long looked;
    private int nextServer = -1;
    private String nextScan = PageCursor.START;

    PageScan(KeyScan.Search search, PageCursor from, int limit, Function<String, @Nullable String> meaning) {
        this.search = search;
        this.from = from;
        this.limit = limit;
        this.meaning = meaning;
    }

    /** Looks at the next server, in the order of their addresses. */
    void visit(Connection connection) {
        int server = servers.size();
        servers.add(String.valueOf(JedisAccess.address(connection)));
        if (server < from.server() || nextServer >= 0) {
            return;
        }
        String cursor = server == from.server() ? from.scan() : PageCursor.START;
        do {
            if (steps == STEPS || names.size() >= limit) {
                nextServer = server;
                nextScan = cursor;
                return;
            }
            cursor = step(connection, cursor);
        } while (!cursor.equals(PageCursor.START));
    }

    private String step(Connection connection, String cursor) {
        int count = count();
        List<?> reply = (List<?>) connection.executeCommand(search.command(bytes(cursor), count));
        steps++;
        looked += count;
        for (Object key : (List<?>) reply.get(1)) {
            String name = meaning.apply(text(key));
            if (name != null) {
                names.add(name);
            }
        }
        return text(reply.get(0));
    }

    /** How many keys to look at: as many as have the names that are missing, if there are as many names as before. */
    private int count() {
        long missing = limit - names.size();
        long needed = names.isEmpty() ? (steps == 0 ? missing : KeyScan.STEP) : missing * looked / names.size();
        return (int) Math.max(SMALLEST_STEP, Math.min(needed, KeyScan.STEP));
    }

    /** Whether the cursor was one of these servers. */
    boolean isValid() {
        return from.fits(servers);
    }

    Set<String> names() {
        return names;
    }

    /** The cursor of the next page; null if this is the last. */
    @Nullable
    String next() {
        return nextServer < 0 ? null : PageCursor.text(servers, nextServer, nextScan);
    }
}
