package dev.lockstep.jdbc;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Lock names as stored in the tables: {@code namespace/name}, in printable ASCII, so that neither character sets nor
 * collations of a database can mistake two names for one. A character outside printable ASCII, and {@code %}, {@code ~}
 * and the space, is written as {@code %XX} for each of its bytes in UTF-8; so is {@code /} in a namespace.
 */
final class Keys {
    /** Higher than anything in a key. */
    private static final char LAST = '~';

    /** Not higher than anything in a key. */
    private static final char FIRST = '!';

    private static final char ESCAPE = '%';
    private static final String HEX = "0123456789ABCDEF";

    private final String prefix;

    Keys(String namespace) {
        prefix = encode(namespace).replace("/", "%2F") + '/';
    }

    String key(String name) {
        return prefix + encode(name);
    }

    /** The first and the last key that a name with a prefix can have. */
    Range withPrefix(String start) {
        String first = key(start);
        return new Range(first, first + LAST);
    }

    /** The names with a prefix that come after a name. */
    Range withPrefixAfter(String start, String name) {
        Range all = withPrefix(start);
        String next = key(name) + FIRST;
        return next.compareTo(all.first) > 0 ? new Range(next, all.last) : all;
    }

    Range only(String name) {
        String key = key(name);
        return new Range(key, key);
    }

    /** Keys between two, both included. */
    record Range(String first, String last) {}

    /** The name that has a key. */
    String name(String key) {
        return decode(key, prefix.length(), key.length());
    }

    /** The namespace that has a key; null if it is no lock's. */
    static @Nullable String namespaceOf(String key) {
        int end = key.indexOf('/');
        return end < 0 ? null : decode(key, 0, end);
    }

    /** A key after all those of a namespace that has one, and not after the next one's. */
    static String after(String key) {
        int end = key.indexOf('/');
        return end < 0 ? key : key.substring(0, end + 1) + LAST;
    }

    private static String decode(String key, int from, int to) {
        byte[] bytes = new byte[to - from];
        int length = 0;
        for (int i = from; i < to; i++) {
            char c = key.charAt(i);
            if (c == ESCAPE) {
                bytes[length++] = (byte) Integer.parseInt(key, i + 1, i + 3, 16);
                i += 2;
            } else {
                bytes[length++] = (byte) c;
            }
        }
        return new String(bytes, 0, length, StandardCharsets.UTF_8);
    }

    private static String encode(String text) {
        StringBuilder encoded = new StringBuilder(text.length() + 8);
        for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
            if (b > ' ' && b < LAST && b != ESCAPE) {
                encoded.append((char) b);
            } else {
                encoded.append(ESCAPE).append(HEX.charAt((b >> 4) & 15)).append(HEX.charAt(b & 15));
            }
        }
        return encoded.toString();
    }
}
