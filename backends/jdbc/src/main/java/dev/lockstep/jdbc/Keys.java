package dev.lockstep.jdbc;

import java.nio.charset.StandardCharsets;

/**
 * Lock names as they stand in the tables: {@code namespace/name}, in printable ASCII, so that neither character sets nor
 * collations of a database can take two names for one. What is not printable ASCII, and {@code %}, {@code ~} and the
 * space, is written as {@code %XX} for each of its bytes in UTF-8; so is {@code /} in a namespace.
 */
final class Keys {
    /** Higher than anything in a key. */
    private static final char LAST = '~';

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

    Range only(String name) {
        String key = key(name);
        return new Range(key, key);
    }

    /** Keys between two, both included. */
    record Range(String first, String last) {}

    /** The name that has a key. */
    String name(String key) {
        byte[] bytes = new byte[key.length()];
        int length = 0;
        for (int i = prefix.length(); i < key.length(); i++) {
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
