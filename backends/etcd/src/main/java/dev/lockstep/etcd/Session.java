package dev.lockstep.etcd;

import com.google.protobuf.ByteString;
import dev.lockstep.LossReason;
import dev.lockstep.spi.Renewable;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * One lease at etcd and all that hangs on it: a key of its own, and the keys of claims. When it ends, all of them are
 * gone. A client has one at a time. Safe for use by many threads.
 */
final class Session implements Renewable {
    private final long lease;
    private final ByteString key;
    private final ByteString value;
    private final AtomicLong validUntilNanos;
    private final AtomicLong fence = new AtomicLong();
    private final Set<EtcdGrant> grants = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean ended = new AtomicBoolean();
    private final Consumer<Session> whenEnded;
    private volatile boolean readRefused;

    Session(long lease, ByteString key, ByteString value, long validUntilNanos, Consumer<Session> whenEnded) {
        this.lease = lease;
        this.key = key;
        this.value = value;
        this.validUntilNanos = new AtomicLong(validUntilNanos);
        this.whenEnded = whenEnded;
    }

    long lease() {
        return lease;
    }

    /** The key that says that the session lives. */
    ByteString key() {
        return key;
    }

    /** What the key says, for people. */
    ByteString value() {
        return value;
    }

    /**
     * The version of the session's key. A claim enters a queue only while it is what the claim knows, so writing the
     * key again keeps out every claim that was sent before and not answered.
     */
    long fence() {
        return fence.get();
    }

    /** The session's key was seen with a version. */
    void fenceSeen(long version) {
        fence.accumulateAndGet(version, Math::max);
    }

    /** Whether etcd refused the last read of the session's key, though it answered. */
    boolean isReadRefused() {
        return readRefused;
    }

    void readRefused(boolean refused) {
        readRefused = refused;
    }

    boolean isEnded() {
        return ended.get();
    }

    /** Remembers a grant, to tell it of the session's end; false if that has come. */
    boolean add(EtcdGrant grant) {
        grants.add(grant);
        return !ended.get();
    }

    void remove(EtcdGrant grant) {
        grants.remove(grant);
    }

    @Override
    public long validUntilNanos() {
        return validUntilNanos.get();
    }

    @Override
    public void renewedUntil(long deadlineNanos) {
        validUntilNanos.accumulateAndGet(
                deadlineNanos, (known, candidate) -> candidate - known > 0 ? candidate : known);
    }

    /** The session has ended, and with it every grant. */
    @Override
    public void signalLost(LossReason reason) {
        if (ended.compareAndSet(false, true)) {
            grants.forEach(grant -> grant.signalLost(reason));
            whenEnded.accept(this);
        }
    }
}
