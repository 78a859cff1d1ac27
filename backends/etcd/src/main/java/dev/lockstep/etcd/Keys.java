package dev.lockstep.etcd;

import com.google.protobuf.ByteString;
import dev.lockstep.LockMode;
import dev.lockstep.etcd.proto.Etcd.KeyValue;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where a namespace's keys are.
 *
 * <pre>
 * lockstep/NAMESPACE/lock/NAME/w/CLAIM@LEASE   a claim that is or waits to be exclusive
 * lockstep/NAMESPACE/lock/NAME/r/CLAIM@LEASE   a claim that is or waits to be shared
 * lockstep/NAMESPACE/client/CLIENT@LEASE       a client's session
 * </pre>
 *
 * <p>A slash inside a namespace or a name is written {@code %2F}, and a percent sign {@code %25}: so no two names share
 * a prefix that ends with a slash, and names that begin alike have keys that begin alike.
 */
final class Keys {
    private static final Pattern ENTRY = Pattern.compile("([^/]+)/([wr])/([A-Za-z0-9_.-]+)@([0-9a-f]+)");

    private final String root;
    private final String locks;

    Keys(String namespace) {
        this.root = "lockstep/" + encode(namespace) + "/";
        this.locks = root + "lock/";
    }

    String root() {
        return root;
    }

    ByteString session(String clientId, long lease) {
        return bytes(root + "client/" + clientId + "@" + Long.toHexString(lease));
    }

    /** The prefix of all claims of a lock. */
    String queue(String name) {
        return locks + encode(name) + "/";
    }

    /** What the claim of one mode has to wait for, if it came before. */
    static String blockers(String queue, LockMode mode) {
        return mode == LockMode.EXCLUSIVE ? queue : queue + "w/";
    }

    static ByteString claim(String queue, LockMode mode, String claimId, long lease) {
        String kind = mode == LockMode.EXCLUSIVE ? "w/" : "r/";
        return bytes(queue + kind + claimId + "@" + Long.toHexString(lease));
    }

    /** The prefix of the claims of all locks whose names begin with something. */
    ByteString locksThatBeginWith(String prefix) {
        return bytes(locks + encode(prefix));
    }

    /** Understands a claim's key; empty for whatever else somebody has put there. */
    Optional<Entry> parse(KeyValue kv) {
        if (!kv.getKey().isValidUtf8()) {
            return Optional.empty();
        }
        String key = kv.getKey().toStringUtf8();
        if (!key.startsWith(locks)) {
            return Optional.empty();
        }
        Matcher parts = ENTRY.matcher(key).region(locks.length(), key.length());
        // A claim hangs on the lease that its key names: what a stranger wrote does not.
        if (!parts.matches() || !parts.group(4).equals(Long.toHexString(kv.getLease())) || kv.getLease() == 0) {
            return Optional.empty();
        }
        boolean shared = parts.group(2).equals("r") || kv.getVersion() > 1;
        return Optional.of(new Entry(decode(parts.group(1)), shared, parts.group(3), kv));
    }

    /**
     * A claim in a lock's queue.
     *
     * @param name the lock's name
     * @param shared whether it was made for sharing, or written again as such by a downgrade
     * @param claimId the claim's id
     * @param kv key and, unless only keys were asked for, value
     */
    record Entry(String name, boolean shared, String claimId, KeyValue kv) {
        long createRevision() {
            return kv.getCreateRevision();
        }

        boolean isOf(String clientId) {
            return claimId.startsWith(clientId + ".");
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
