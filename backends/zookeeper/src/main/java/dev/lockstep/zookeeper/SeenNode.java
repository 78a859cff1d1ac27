package dev.lockstep.zookeeper;

import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
import java.time.Instant;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * A node of a lock as it was read: a place in its queue, or the plain lock itself. Immutable.
 *
 * @param mode how the lock is held or wanted, which may differ from the kind after a downgrade
 */
record SeenNode(String path, ClaimKind kind, LockMode mode, NodeData data, Stat stat) {
    static final ClaimKind PLAIN = ClaimKind.lock(LockMode.EXCLUSIVE, true);

    static SeenNode of(String path, ClaimKind kind, byte @Nullable [] bytes, Stat stat) {
        NodeData data = NodeData.parse(bytes, created(stat));
        boolean shared = !kind.isWriter() || NodeData.isShared(bytes);
        return new SeenNode(path, kind, shared ? LockMode.SHARED : LockMode.EXCLUSIVE, data, stat);
    }

    static Instant created(Stat stat) {
        return Instant.ofEpochMilli(stat.getCtime());
    }

    /** Whether the node without children is a plain lock that is held: other nodes are containers. */
    static boolean isPlainLock(Stat stat) {
        return stat.getEphemeralOwner() != 0;
    }

    LockInfo.Entry entry(boolean holds) {
        LockInfo.Entry entry = LockInfo.Entry.of(mode, data.holder()).withPermits(kind.permits());
        entry = data.claimId().map(entry::withClaim).orElse(entry);
        if (!holds) {
            return entry;
        }
        entry = data.waitsFor().map(entry::withWait).orElse(entry);
        return entry.withToken(stat.getCzxid());
    }
}
