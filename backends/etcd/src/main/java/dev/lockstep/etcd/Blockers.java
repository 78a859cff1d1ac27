package dev.lockstep.etcd;

import com.google.protobuf.ByteString;
import dev.lockstep.etcd.proto.Etcd.KeyValue;
import java.util.Map;

/**
 * The keys that a claim waits for, as one look has shown them.
 *
 * @param key the one key that it watches, or the prefix of all keys that it watches
 * @param all whether it is a prefix
 * @param version of that one key
 * @param counted how many permits the end of each key frees, if these are all that stand before the claim; empty if
 *     there are others, so that another look is needed
 * @param missing how many of these have to be freed
 * @param revision of the store, when this was so
 */
record Blockers(
        ByteString key, boolean all, long version, Map<ByteString, Integer> counted, long missing, long revision) {

    /** The last of several. */
    static Blockers last(KeyValue last, long revision) {
        return new Blockers(last.getKey(), false, last.getVersion(), Map.of(), 0, revision);
    }

    /** The only one. */
    static Blockers only(KeyValue only, int permits, long missing, long revision) {
        return new Blockers(only.getKey(), false, only.getVersion(), Map.of(only.getKey(), permits), missing, revision);
    }

    /** All holders of a semaphore. */
    static Blockers holders(ByteString prefix, Map<ByteString, Integer> holders, long missing, long revision) {
        return new Blockers(prefix, true, 0, Map.copyOf(holders), missing, revision);
    }

    boolean isSameKey(Blockers other) {
        return all == other.all && key.equals(other.key);
    }
}
