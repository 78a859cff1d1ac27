package dev.lockstep.etcd;

import com.google.protobuf.ByteString;
import dev.lockstep.Lease;
import dev.lockstep.LockConfigurationException;

/**
 * Ties a transaction of your own on the same etcd cluster to a lock: with this comparison in it, etcd applies it only while
 * the lock is held. No pause and no clock can interfere, since etcd reads the lock and your keys in one step.
 *
 * <pre>{@code
 * EtcdGuard guard = EtcdGuard.of(lease);
 * kv.txn()                                                                        // jetcd
 *         .If(new Cmp(ByteSequence.from(guard.key()), Cmp.Op.EQUAL, CmpTarget.createRevision(guard.createRevision())))
 *         .Then(Op.put(key, value, PutOption.DEFAULT))
 *         .commit();                                                              // not succeeded: the lock was lost
 * }</pre>
 *
 * <p>The guard is that of the grant. Threads of one client may hold a lock in turn under one grant; to distinguish a
 * hold from the next one of the same client, use {@code LockOptions.defaults().handOff(0)}, or a {@code fair()} lock.
 *
 * <p>Immutable, and safe for use by many threads.
 */
public final class EtcdGuard {
    private final ByteString key;
    private final long createRevision;

    EtcdGuard(ByteString key, long createRevision) {
        this.key = key;
        this.createRevision = createRevision;
    }

    /**
     * The guard of a hold.
     *
     * @param lease a valid lease of one lock on etcd
     * @return its guard
     * @throws dev.lockstep.LockLostException if the hold was lost
     * @throws IllegalStateException if it was released
     * @throws LockConfigurationException if it is not one of etcd: of another engine, taken in fallback, or a multi-lock
     */
    public static EtcdGuard of(Lease lease) {
        lease.ensureValid();
        return lease.unwrap(EtcdGuard.class)
                .orElseThrow(() -> new LockConfigurationException(
                        lease.lockName(),
                        "The lease of lock '" + lease.lockName()
                                + "' has no etcd guard: it must be of one lock, held on"
                                + " etcd and not in fallback."));
    }

    /**
     * The key whose create revision is to be compared.
     *
     * @return a copy of the key
     */
    public byte[] key() {
        return key.toByteArray();
    }

    /**
     * The create revision that the key has while the lock is held.
     *
     * @return a positive revision
     */
    public long createRevision() {
        return createRevision;
    }

    /** The comparison as {@code etcdctl txn} reads it. */
    @Override
    public String toString() {
        return "create(\"" + key.toStringUtf8() + "\") = \"" + createRevision + "\"";
    }
}
