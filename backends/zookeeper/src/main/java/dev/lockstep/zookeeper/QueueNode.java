package dev.lockstep.zookeeper;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A place in a lock's queue, as its node's name shows it: {@code KIND:KEY:NUMBER}. The server appends the number, so
 * that the order of numbers is the order of arrival.
 *
 * @param name the node's name
 * @param kind what its claim asks for
 * @param key the claim's id and the number of its try, never used again
 * @param number the server's number
 */
record QueueNode(String name, ClaimKind kind, String key, int number) {
    private static final char SEPARATOR = ':';
    private static final int MOST_DIGITS = 11; // with a sign

    /** The name's part before the number. */
    static String prefix(ClaimKind kind, String key) {
        return kind.text() + SEPARATOR + key + SEPARATOR;
    }

    /** How long the rest of a path is for a claim, at most: slash, kind, key and the server's number. */
    static int mostBytes(ClaimKind kind, String key) {
        return 1 + prefix(kind, key).length() + MOST_DIGITS;
    }

    /** Parses a name; null if the node is foreign. */
    static @Nullable QueueNode parse(String name) {
        int first = name.indexOf(SEPARATOR);
        int last = name.lastIndexOf(SEPARATOR);
        if (first < 0 || last <= first + 1) {
            return null;
        }
        ClaimKind kind = ClaimKind.parse(name.substring(0, first));
        if (kind == null) {
            return null;
        }
        try {
            int number = Integer.parseInt(name.substring(last + 1));
            return new QueueNode(name, kind, name.substring(first + 1, last), number);
        } catch (NumberFormatException e) {
            return null;
        }
    }

    /**
     * The queue of a lock, in order; foreign nodes are left out.
     *
     * @param ages the transaction ids of nodes that are not {@link #isCounted}, as far as they are known; the others are
     *     taken for the last
     */
    static List<QueueNode> queue(List<String> names, Map<String, Long> ages) {
        List<QueueNode> queue = new ArrayList<>(names.size());
        for (String name : names) {
            QueueNode node = parse(name);
            if (node != null) {
                queue.add(node);
            }
        }
        queue.sort(Comparator.comparing((QueueNode node) -> !node.isCounted())
                .thenComparing(
                        node -> node.isCounted() ? (long) node.number : ages.getOrDefault(node.name, Long.MAX_VALUE)));
        return queue;
    }

    /**
     * Whether its number shows its place. The server's counter ends at 2<sup>31</sup> - 1: from then on it gives that
     * number again and again, and negative ones in between, until the queue is empty for long enough to be removed.
     */
    boolean isCounted() {
        return number >= 0 && number < Integer.MAX_VALUE;
    }

    static int indexOf(List<QueueNode> queue, String name) {
        for (int i = 0; i < queue.size(); i++) {
            if (queue.get(i).name.equals(name)) {
                return i;
            }
        }
        return -1;
    }

    boolean isOf(String clientId) {
        return key.startsWith(clientId);
    }
}
