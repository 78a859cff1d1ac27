package dev.lockstep.zookeeper;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The paths of locks: {@code /lockstep/NAMESPACE/LOCK}, below the chroot. Namespaces and lock names are any text, node
 * names are not, so all but harmless ASCII is percent-encoded: no two names collide, and none has a slash or is a dot.
 */
final class Keys {
    static final String ROOT = "/lockstep";

    private static final String HARMLESS = "-_:=+,@.";
    private static final int HEX = 16;

    private final String namespacePath;

    Keys(String namespace) {
        this.namespacePath = ROOT + "/" + encode(namespace);
    }

    String namespacePath() {
        return namespacePath;
    }

    String lockPath(String lockName) {
        return namespacePath + "/" + encode(lockName);
    }

    static String encode(String name) {
        StringBuilder encoded = new StringBuilder(name.length() + HEX);
        for (byte unit : name.getBytes(StandardCharsets.UTF_8)) {
            char character = (char) (unit & 0xff);
            // A dot is safe except as the first character: "." and ".." are not names of nodes.
            boolean plain = isHarmless(character) && (character != '.' || !encoded.isEmpty());
            if (plain) {
                encoded.append(character);
            } else {
                encoded.append('%')
                        .append(Character.forDigit(unit >> 4 & 0xf, HEX))
                        .append(Character.forDigit(unit & 0xf, HEX));
            }
        }
        return encoded.toString();
    }

    private static boolean isHarmless(char character) {
        return character >= 'a' && character <= 'z'
                || character >= 'A' && character <= 'Z'
                || character >= '0' && character <= '9'
                || HARMLESS.indexOf(character) >= 0;
    }

    /** The name that was encoded so; null if none was, because the node is foreign. */
    static @Nullable String decode(String nodeName) {
        ByteArrayOutputStream units = new ByteArrayOutputStream(nodeName.length());
        for (int i = 0; i < nodeName.length(); i++) {
            if (nodeName.charAt(i) == '%' && i + 2 < nodeName.length()) {
                int high = Character.digit(nodeName.charAt(i + 1), HEX);
                int low = Character.digit(nodeName.charAt(i + 2), HEX);
                units.write(high << 4 | low);
                i += 2;
            } else {
                units.write(nodeName.charAt(i));
            }
        }
        String name = units.toString(StandardCharsets.UTF_8);
        return encode(name).equals(nodeName) ? name : null;
    }

    static String parent(String path) {
        return path.substring(0, path.lastIndexOf('/'));
    }

    static String last(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }
}
