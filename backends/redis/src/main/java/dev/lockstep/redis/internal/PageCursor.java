package dev.lockstep.redis.internal;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Where a page of locks begins: at one of the servers, at a place of its SCAN. A place means something to that server alone, so
 * the cursor remembers by a checksum which servers there were. Immutable.
 *
 * @param servers the checksum; null for the first page
 * @param server which of the servers, in the order of their addresses
 * @param scan the cursor of its SCAN
 */
public record PageCursor(@Nullable String servers, int server, String scan) {
    /** Where a SCAN begins, and what it says at its end. */
    static final String START = "0";

    private static final Pattern FORM = Pattern.compile("([0-9a-f]{1,8})\\.(\\d{1,5})\\.(\\d{1,20})");

    /**
     * Understands the text of a cursor.
     *
     * @param text what {@link #text} made; empty for the first page
     * @throws IllegalArgumentException if it is something else
     */
    public static PageCursor parse(String text) {
        if (text.isEmpty()) {
            return new PageCursor(null, 0, START);
        }
        Matcher parts = FORM.matcher(text);
        if (parts.matches()) {
            try {
                String scan = Long.toUnsignedString(Long.parseUnsignedLong(parts.group(3)));
                return new PageCursor(parts.group(1), Integer.parseInt(parts.group(2)), scan);
            } catch (NumberFormatException e) {
                // Larger than any cursor of SCAN.
            }
        }
        throw new IllegalArgumentException("No page of Redis has the cursor '" + text
                + "'. Begin with an empty one, and continue with that of the last page.");
    }

    /** The cursor's text, for those servers. */
    static String text(List<String> servers, int server, String scan) {
        return checksum(servers) + "." + server + "." + scan;
    }

    /** Whether it belongs to these servers. */
    boolean fits(List<String> present) {
        return servers == null || (servers.equals(checksum(present)) && server < present.size());
    }

    private static String checksum(List<String> servers) {
        return Integer.toHexString(servers.hashCode());
    }
}
