package dev.lockstep.etcd;

import com.google.protobuf.ByteString;
import dev.lockstep.LossReason;
import dev.lockstep.etcd.proto.Etcd.KeyValue;
import dev.lockstep.spi.Renewable;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One lease at etcd and the keys attached to it: a key of its own, and the keys of a limited number of claims. When it
 * ends, all of them are gone. A client has as many as its claims need. Safe for use by many threads.
 */
final class Session implements Renewable {
    /**
     * The most claims of a session. etcd deletes all keys of a lease in one step, during which it serves nobody: 30,000 of
     * them took two seconds.
     */
    static final int MOST_CLAIMS = 1_000;

    private final long lease;
    private final long number;
    private final ByteString key;
    private final ByteString value;
    private final long createRevision;
    private final AtomicLong validUntilNanos;
    private final AtomicLong fence;
    private final Set<EtcdGrant> grants = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean ended = new AtomicBoolean();
    private final Consumer<Session> whenEnded;
    private volatile boolean readRefused;
    private final Map<String, BitSet> indexes = new HashMap<>(); // in use, by prefix; guarded by this, as the next two
    private int claims;
    private boolean retired;

    /**
     * Makes it.
     *
     * @param lease the lease's id, which is never used again
     * @param number part of its keys; another session may have had it before
     * @param key the session's key, which says that it lives
     * @param value the value of the key, for people to read
     * @param createRevision when the key was made
     */
    Session(
            long lease,
            long number,
            ByteString key,
            ByteString value,
            long createRevision,
            long validUntilNanos,
            Consumer<Session> whenEnded) {
        this.lease = lease;
        this.number = number;
        this.key = key;
        this.value = value;
        this.createRevision = createRevision;
        this.validUntilNanos = new AtomicLong(validUntilNanos);
        this.fence = new AtomicLong(createRevision);
        this.whenEnded = whenEnded;
    }

    long lease() {
        return lease;
    }

    long number() {
        return number;
    }

    ByteString key() {
        return key;
    }

    ByteString value() {
        return value;
    }

    /**
     * The revision at which the session's key was last written. A claim enters a queue only while it is what the claim
     * knows, so writing the key again keeps out every claim that was sent before and not answered.
     */
    long fence() {
        return fence.get();
    }

    /** The session's key was seen to be written at a revision. */
    void fenceSeen(long modRevision) {
        fence.accumulateAndGet(modRevision, Math::max);
    }

    /** Whether a look at its key has found it, and not the next session's with its number. */
    boolean isFound(List<KeyValue> found) {
        if (found.isEmpty() || found.get(0).getCreateRevision() != createRevision) {
            return false;
        }
        fenceSeen(found.get(0).getModRevision());
        return true;
    }

    /** The same, and ends the session if it was not found. */
    boolean endUnlessFound(List<KeyValue> found) {
        boolean alive = isFound(found);
        if (!alive) {
            signalLost(LossReason.SESSION_ENDED);
        }
        return alive;
    }

    // ---------------------------------------------------------------- places

    /** Gives a claim a place in its queue; null if there is no room in this session. */
    synchronized @Nullable ClaimKey claimKey(ClaimQueue queue) {
        if (retired || claims == MOST_CLAIMS || ended.get()) {
            return null;
        }
        claims++;
        BitSet used = indexes.computeIfAbsent(queue.claims(), prefix -> new BitSet());
        int index = used.nextClearBit(0);
        used.set(index);
        return new ClaimKey(queue, this, index);
    }

    synchronized void free(String prefix, int index) {
        claims--;
        BitSet used = indexes.get(prefix);
        if (used != null) {
            used.clear(index);
            if (used.isEmpty()) {
                indexes.remove(prefix);
            }
        }
    }

    /** How many claims have a place. */
    synchronized int claims() {
        return claims;
    }

    /** Stops giving places if no claim has one; returns whether it stopped. */
    synchronized boolean retire() {
        retired |= claims == 0;
        return retired;
    }

    // ---------------------------------------------------------------- life

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

    /** Registers a grant to be notified when the session ends; false if it has ended. */
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
