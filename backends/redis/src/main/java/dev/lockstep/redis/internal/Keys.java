package dev.lockstep.redis.internal;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.util.JedisClusterCRC16;

/**
 * The keys of one lock: {@code lockstep:{namespace:name}} and, with a suffix each, the others. The part in braces is
 * the hash tag, so a cluster keeps all of them in one slot.
 *
 * <p>Names are data: braces and percent signs in them are written as {@code %XX}, and so are colons of the namespace.
 * No two pairs of namespace and name therefore share a key, and none leaves its braces.
 */
public final class Keys {
    private static final String PREFIX = "lockstep:{";
    private static final byte[][] SUFFIXES = {ascii(":queue"), ascii(":readers"), ascii(":claims"), ascii(":gone")};
    private static final byte[] TOKEN = ascii(":token");
    private static final byte[] PING = ascii(":ping");

    /** The key where one of several independent servers keeps what it knows of the clients; no lock's key. */
    public static final byte[] CHARTER = ascii("lockstep:redlock");

    /** A key that nobody writes. */
    static final byte[] NOBODYS = ascii("lockstep:ping");

    private final String name;
    private final byte[] lock;
    private byte @Nullable [][] queued; // made when first needed; by two threads at once, the same twice

    public Keys(String namespace, String name) {
        this.name = name;
        this.lock =
                (PREFIX + encode(namespace, true) + ':' + encode(name, false) + '}').getBytes(StandardCharsets.UTF_8);
    }

    public String lockName() {
        return name;
    }

    /** The key that has the holder. */
    public byte[] lock() {
        return lock;
    }

    int slot() {
        return JedisClusterCRC16.getSlot(lock);
    }

    /** The keys of the queued lock, in the order of the scripts. */
    public byte[][] queued() {
        byte[][] known = queued;
        if (known == null) {
            known = new byte[][] {lock, with(SUFFIXES[0]), with(SUFFIXES[1]), with(SUFFIXES[2]), with(SUFFIXES[3])};
            queued = known;
        }
        return known;
    }

    /** The keys of the queued lock, and what a server of several remembers for all locks. */
    public byte[][] chartered() {
        byte[][] keys = Arrays.copyOf(queued(), SUFFIXES.length + 2);
        keys[SUFFIXES.length + 1] = CHARTER;
        return keys;
    }

    /** The keys of the queued lock that a renewal needs. */
    public byte[][] renewed() {
        return Arrays.copyOf(queued(), SUFFIXES.length);
    }

    /** The keys of the queued lock that decide whether it is free. */
    public byte[][] taken() {
        byte[][] all = queued();
        return new byte[][] {all[0], all[1], all[2], all[4]};
    }

    /** The keys of the queued lock that decide whether its release concerns its owner alone. */
    public byte[][] released() {
        return Arrays.copyOf(queued(), 2);
    }

    /** The keys of the plain lock. */
    public byte[][] plain() {
        return new byte[][] {lock, with(TOKEN)};
    }

    /** The key of the plain lock, and one beside it that nobody writes. */
    public byte[][] plainReleased() {
        return new byte[][] {lock, with(PING)};
    }

    /** The keys of the plain lock, and one beside them that nobody writes. */
    byte[][] plainForced() {
        return new byte[][] {lock, with(TOKEN), with(PING)};
    }

    /** The pattern for SCAN of all keys of all locks whose names begin with a prefix. */
    static String pattern(String namespace, String prefix) {
        String start = PREFIX + encode(namespace, true) + ':' + encode(prefix, false);
        return start.replaceAll("[\\\\*?\\[\\]^]", "\\\\$0") + '*';
    }

    /** The name of the lock that a key belongs to, or null if it is not a key of the namespace, or names no claim. */
    static @Nullable String nameOf(String namespace, String key) {
        String start = PREFIX + encode(namespace, true) + ':';
        int end = key.indexOf('}', PREFIX.length());
        return key.startsWith(start) && end > start.length() && !key.endsWith(":token")
                ? decode(key.substring(start.length(), end))
                : null;
    }

    /** The pattern for SCAN of all keys of all locks. */
    static String anyPattern() {
        return PREFIX + '*';
    }

    /** The namespace that a key belongs to, or null if it is not a key of a lock. */
    static @Nullable String namespaceOf(String key) {
        int end = key.indexOf(':', PREFIX.length());
        return key.startsWith(PREFIX) && end > PREFIX.length() && key.indexOf('}') > end
                ? decode(key.substring(PREFIX.length(), end))
                : null;
    }

    private byte[] with(byte[] suffix) {
        byte[] key = Arrays.copyOf(lock, lock.length + suffix.length);
        System.arraycopy(suffix, 0, key, lock.length, suffix.length);
        return key;
    }

    private static String encode(String text, boolean colonsToo) {
        String encoded = text;
        if (text.indexOf('%') >= 0 || text.indexOf('{') >= 0 || text.indexOf('}') >= 0) {
            encoded = text.replace("%", "%25").replace("{", "%7B").replace("}", "%7D");
        }
        return colonsToo ? encoded.replace(":", "%3A") : encoded;
    }

    private static String decode(String text) {
        return text.replace("%7B", "{").replace("%7D", "}").replace("%3A", ":").replace("%25", "%");
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
