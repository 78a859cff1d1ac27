package dev.lockstep.etcd;

import com.google.protobuf.ByteString;
import dev.lockstep.LockMode;
import dev.lockstep.etcd.proto.Etcd.KeyValue;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The keys of a namespace.
 *
 * <pre>
 * lockstep/NAMESPACE/client/2/SESSION             a session of a client; 2 is the format of all these keys
 * lockstep/NAMESPACE/lock/NAME/w/SESSION.INDEX    a claim that is or waits to be exclusive
 * lockstep/NAMESPACE/lock/NAME/r/SESSION.INDEX    a claim that is or waits to be shared
 * lockstep/NAMESPACE/lock/NAME/s/LIMIT/SESSION.INDEX       a claim for one permit of a semaphore that has LIMIT of them
 * lockstep/NAMESPACE/lock/NAME/s/LIMIT/+N/SESSION.INDEX    a claim for N permits
 * lockstep/NAMESPACE/wait/NAME/…                  what the holder of the claim that ends alike waits for
 * lockstep/NAMESPACE/slot/NAME/LIMIT/…            which slots of a semaphore the claim that ends alike has
 * </pre>
 *
 * <p>Sessions have small numbers, and the claims of a session on one name have small indexes. Both are used again: etcd
 * remembers every key that was ever used until its history is compacted, and a range walks over all of them.
 *
 * <p>A slash inside a namespace or a name is written {@code %2F}, and a percent sign {@code %25}: so no two names share
 * a prefix that ends with a slash, and names that begin alike have keys that begin alike. Claims for several permits come
 * before those for one in the order of keys, so that the first keys of a semaphore and their number show how many
 * permits are taken.
 */
final class Keys {
    /** Clients of different formats refuse to run in the same namespace. */
    static final int FORMAT = 2;

    private static final Pattern ENTRY =
            Pattern.compile("([^/]+)/(?:[wr]|s/([1-9][0-9]{0,9})(?:/\\+([1-9][0-9]{0,9}))?)/[0-9]+\\.[0-9]+");

    /** The prefix of all keys. */
    static final String ALL = "lockstep/";

    private final String root;
    private final String locks;
    private final String slots;
    private final ByteString locksPrefix;
    private final ByteString waitsPrefix;

    Keys(String namespace) {
        this.root = ALL + encode(namespace) + "/";
        this.locks = root + "lock/";
        this.slots = root + "slot/";
        this.locksPrefix = bytes(locks);
        this.waitsPrefix = bytes(root + "wait/");
    }

    String root() {
        return root;
    }

    /** The prefix of all sessions, of whatever format. */
    ByteString allSessions() {
        return bytes(root + "client/");
    }

    /** The prefix of the sessions of this format. */
    ByteString sessions() {
        return bytes(root + "client/" + FORMAT + "/");
    }

    ByteString session(long number) {
        return bytes(root + "client/" + FORMAT + "/" + number);
    }

    /** The prefix of all claims of a lock. */
    String queue(String name) {
        return locks + encode(name) + "/";
    }

    /** The prefix of all claims of a lock that were made in one mode. */
    static String claims(String queue, LockMode mode) {
        return queue + (mode == LockMode.EXCLUSIVE ? "w/" : "r/");
    }

    /** The prefix of all claims of a semaphore, with whatever number of permits. */
    static String semaphores(String queue) {
        return queue + "s/";
    }

    /** The prefix of all claims of a semaphore that has so many permits. */
    static String semaphore(String queue, int limit) {
        return semaphores(queue) + limit + "/";
    }

    /** The prefix of all claims for so many permits of a semaphore. */
    static String permits(String semaphore, int permits) {
        return permits == 1 ? semaphore : semaphore + "+" + permits + "/";
    }

    /** The prefix of the claims of all locks whose names begin with something. */
    ByteString locksThatBeginWith(String prefix) {
        return bytes(locks + encode(prefix));
    }

    /** The prefix of all claims. */
    ByteString locks() {
        return locksPrefix;
    }

    /**
     * The key that stores what a holder waits for: derived from the key of a claim, a prefix of such keys, or their
     * end.
     */
    ByteString wait(ByteString claim) {
        return claim.startsWith(locksPrefix)
                ? waitsPrefix.concat(claim.substring(locksPrefix.size()))
                : endOf(waitsPrefix);
    }

    /** The prefix of the slots of a semaphore. */
    ByteString slots(String name, int limit) {
        return bytes(slots + encode(name) + "/" + limit + "/");
    }

    /** The prefix of the queue that contains a key; the key itself if it is in no queue. */
    ByteString queueOf(ByteString key) {
        for (int i = locksPrefix.size(); i < key.size(); i++) {
            if (key.byteAt(i) == '/') {
                return key.substring(0, i + 1);
            }
        }
        return key;
    }

    /** The namespace of a key; empty if it is not Lockstep's. */
    static Optional<String> namespaceOf(ByteString key) {
        if (!key.isValidUtf8()) {
            return Optional.empty();
        }
        String text = key.toStringUtf8();
        int end = text.indexOf('/', ALL.length());
        return end <= ALL.length() ? Optional.empty() : Optional.of(decode(text.substring(ALL.length(), end)));
    }

    /** The first key that can come after all those of a namespace. */
    static ByteString after(String namespace) {
        return endOf(bytes(ALL + encode(namespace) + "/"));
    }

    /** Parses a claim's key; empty for any other key. */
    Optional<Entry> parse(KeyValue kv) {
        if (!kv.getKey().isValidUtf8()) {
            return Optional.empty();
        }
        String key = kv.getKey().toStringUtf8();
        if (!key.startsWith(locks)) {
            return Optional.empty();
        }
        Matcher parts = ENTRY.matcher(key).region(locks.length(), key.length());
        // A claim is attached to a lease; a foreign key is not.
        if (!parts.matches() || kv.getLease() == 0) {
            return Optional.empty();
        }
        String name = decode(parts.group(1));
        if (parts.group(2) == null) {
            boolean exclusive = key.charAt(locks.length() + parts.group(1).length() + 1) == 'w';
            return Optional.of(new Entry(name, !exclusive || kv.getVersion() > 1, 0, 1, kv));
        }
        long limit = Long.parseLong(parts.group(2));
        long permits = parts.group(3) == null ? 1 : Long.parseLong(parts.group(3));
        return permits <= limit && limit <= Integer.MAX_VALUE
                ? Optional.of(new Entry(name, true, (int) limit, (int) permits, kv))
                : Optional.empty();
    }

    /**
     * A claim in a lock's queue.
     *
     * @param name the lock's name
     * @param shared whether it was made for sharing, or written again as such by a downgrade
     * @param limit how many permits the semaphore has; 0 for a lock
     * @param permits how many of them it is for; 1 for a lock
     * @param kv key and, unless only keys were asked for, value
     */
    record Entry(String name, boolean shared, int limit, int permits, KeyValue kv) {
        long createRevision() {
            return kv.getCreateRevision();
        }

        OptionalInt knownLimit() {
            return limit == 0 ? OptionalInt.empty() : OptionalInt.of(limit);
        }
    }

    /** The end of the range of all keys that begin with a prefix, which is not empty and does not end with 0xFF. */
    static ByteString endOf(ByteString prefix) {
        byte[] bytes = prefix.toByteArray();
        bytes[bytes.length - 1]++;
        return ByteString.copyFrom(bytes);
    }

    static ByteString bytes(String text) {
        return ByteString.copyFrom(text, StandardCharsets.UTF_8);
    }

    private static String encode(String name) {
        return name.replace("%", "%25").replace("/", "%2F");
    }

    private static String decode(String encoded) {
        return encoded.replace("%2F", "/").replace("%25", "%");
    }
}
