package dev.lockstep.etcd;

import com.google.protobuf.ByteString;
import dev.lockstep.LockMode;
import dev.lockstep.etcd.Keys.Entry;
import dev.lockstep.etcd.proto.Etcd.Compare.CompareResult;
import dev.lockstep.etcd.proto.Etcd.KeyValue;
import dev.lockstep.etcd.proto.Etcd.RangeRequest;
import dev.lockstep.etcd.proto.Etcd.RangeRequest.SortOrder;
import dev.lockstep.etcd.proto.Etcd.RangeRequest.SortTarget;
import dev.lockstep.etcd.proto.Etcd.RangeResponse;
import dev.lockstep.etcd.proto.Etcd.TxnRequest;
import dev.lockstep.etcd.proto.Etcd.TxnResponse;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A claim's place in a lock's queue, in one session: its key, and the requests that are made with it. The order of the
 * queue is that of create revisions. Safe for use by many threads.
 */
final class Place {
    /*
     * Overview. An exclusive claim waits for the claim before it, of whatever mode; a shared claim waits for the last
     * exclusive claim before it. An exclusive claim that holds may become shared: its key is written again, so that its
     * version is above 1, and keeps its place. It was first in the queue then, so the last exclusive claim before a
     * shared one either was never written again, and blocks it, or was, and is the only one there.
     *
     * The key has been others' before, and will be: a session gives it to one claim at a time, and again only when the last
     * one has certainly left. So whoever finds the key, under the session's lease and while it has the place, finds its own
     * claim. But a request that was sent and not answered may arrive at any later time, and must not touch the next claim:
     * it compares the create revision, which no two claims share, or the session's fence, which has moved since.
     *
     * Entering asks for any two of the claims that may block it, in no order: the server sorts nothing while it applies
     * the transaction, and if there is none, or one, that is enough to know. Otherwise a look follows, which is a read.
     * It is limited to the one claim that matters. Should that be a stranger's key, the whole queue is asked for.
     */
    private static final int SOME = 2;

    private static final int FEW = 3;

    private final Keys keys;
    private final Session session;
    private final LockMode mode;
    private final String claims;
    private final int index;
    private final ByteString queue;
    private final ByteString blockers;
    private final ByteString key;
    private final AtomicReference<@Nullable Departure> departure = new AtomicReference<>();
    private boolean freed; // guarded by this

    /** Made by its session, which has reserved the index. */
    Place(Keys keys, Session session, String lockName, LockMode mode, int index) {
        this.keys = keys;
        this.session = session;
        this.mode = mode;
        this.index = index;
        String prefix = keys.queue(lockName);
        this.claims = Keys.claims(prefix, mode);
        this.queue = Keys.bytes(prefix);
        this.blockers = Keys.bytes(Keys.blockers(prefix, mode));
        this.key = Keys.bytes(claims + session.number() + "." + index);
    }

    Session session() {
        return session;
    }

    ByteString key() {
        return key;
    }

    ByteString queue() {
        return queue;
    }

    /** Whether what was found at the key hangs on the session's lease, and so is the claim of this place. */
    boolean isOwn(KeyValue found) {
        return found.getLease() == session.lease();
    }

    /** The claim has certainly left, or never came: the key may be used again. */
    synchronized void free() {
        if (!freed) {
            freed = true;
            session.free(claims, index);
        }
    }

    /** A stranger's key is there: the place is not used again. */
    synchronized void block() {
        freed = true;
    }

    /** The claim leaves once, however often it is asked to: the first departure, which may be this one. */
    Departure departure(Departure next) {
        Departure known = departure.compareAndExchange(null, next);
        return known == null ? next : known;
    }

    /**
     * How the queue stands to a claim.
     *
     * @param revision of the store, when this was so
     * @param createRevision when the claim's key was made; 0 if it is not there
     * @param blocker what it waits for; null if nothing, so that it holds the lock
     * @param wanted whether another client's claim waits for it
     * @param crowded whether there is more than could be seen, and a look must follow
     * @param strange whether a stranger's key was in the way, and the whole queue must be looked at
     */
    record View(
            long revision,
            long createRevision,
            @Nullable ByteString blocker,
            boolean wanted,
            boolean crowded,
            boolean strange) {
        boolean isPresent() {
            return createRevision != 0;
        }
    }

    // ---------------------------------------------------------------- entering

    /**
     * Enters the queue, once: behind all others, or, if it may not wait, only if nothing there blocks it. Asks for
     * nothing more than the lock's own round trip needs.
     */
    TxnRequest enter(ByteString holder, boolean onlyIfFree, long fence) {
        TxnRequest.Builder txn = TxnRequest.newBuilder()
                .addCompare(Requests.writtenAt(session.key(), fence))
                .addCompare(Requests.absent(key));
        if (onlyIfFree) {
            txn.addCompare(
                    mode == LockMode.EXCLUSIVE
                            ? Requests.noneBeginsWith(queue)
                            : Requests.version(blockers, CompareResult.NOT_EQUAL, 1).toBuilder()
                                    .setRangeEnd(Keys.endOf(blockers))
                                    .build());
        }
        return txn.addSuccess(Requests.op(some()))
                .addSuccess(Requests.put(key, holder, session.lease()))
                .addFailure(Requests.op(Requests.look(key)))
                .addFailure(Requests.op(Requests.look(session.key())))
                .addFailure(Requests.op(some()))
                .build();
    }

    /** The view of a claim that has entered: the transaction's revision is its key's. */
    View entered(TxnResponse answer) {
        return view(answer, answer.getHeader().getRevision(), Requests.found(answer, 0), false);
    }

    // ---------------------------------------------------------------- looking

    /** Asks how the queue stands to a claim that has entered. */
    TxnRequest look(long createRevision) {
        return TxnRequest.newBuilder()
                .addSuccess(Requests.op(Requests.look(key)))
                .addSuccess(Requests.op(last().setMaxCreateRevision(createRevision - 1)))
                // If it holds, all that could block it came after it and is blocked by it: a few are enough to know.
                .addSuccess(Requests.op(Requests.lookAll(blockers).setLimit(FEW)))
                .build();
    }

    /** What a look found for a claim that waits. */
    View seen(TxnResponse answer, long createRevision, Sessions own) {
        return seen(answer, createRevision, mode == LockMode.SHARED, own);
    }

    /** What a look found for a claim that holds, and is shared by now or not. */
    View seen(TxnResponse answer, long createRevision, boolean shared, Sessions own) {
        boolean wanted = Requests.found(answer, 2).stream().anyMatch(kv -> isWantedBy(kv, shared, own));
        return view(answer, ifPresent(answer, createRevision), Requests.found(answer, 1), wanted);
    }

    /** The create revision, if the key that was found first still has it; 0 if that claim has gone. */
    private static long ifPresent(TxnResponse answer, long createRevision) {
        return Requests.found(answer, 0).stream().anyMatch(kv -> kv.getCreateRevision() == createRevision)
                ? createRevision
                : 0;
    }

    /** Asks for the whole queue. */
    TxnRequest lookAround() {
        return TxnRequest.newBuilder()
                .addSuccess(Requests.op(Requests.look(key)))
                .addSuccess(Requests.op(
                        Requests.lookAll(queue).setSortTarget(SortTarget.CREATE).setSortOrder(SortOrder.ASCEND)))
                .build();
    }

    View seenAround(TxnResponse answer, long createRevision, Sessions own) {
        long created = ifPresent(answer, createRevision);
        ByteString blocker = null;
        boolean wanted = false;
        for (KeyValue kv : Requests.found(answer, 1)) {
            Optional<Entry> entry = keys.parse(kv);
            if (entry.isEmpty() || kv.getCreateRevision() == created) {
                continue;
            }
            boolean collides = mode == LockMode.EXCLUSIVE || !entry.get().shared();
            if (kv.getCreateRevision() < created) {
                blocker = collides ? kv.getKey() : blocker;
            } else {
                wanted |= collides && !own.isOwn(kv.getLease());
            }
        }
        return new View(answer.getHeader().getRevision(), created, blocker, wanted, false, false);
    }

    /** Some of the claims that may block this one, before its own key is put. */
    private RangeRequest.Builder some() {
        return Requests.lookAll(blockers).setLimit(SOME);
    }

    /** The last of the claims that may block this one, to be limited to those before it. */
    private RangeRequest.Builder last() {
        return Requests.lookAll(blockers)
                .setSortTarget(SortTarget.CREATE)
                .setSortOrder(SortOrder.DESCEND)
                .setLimit(1);
    }

    private View view(TxnResponse answer, long created, List<KeyValue> before, boolean wanted) {
        long revision = answer.getHeader().getRevision();
        if (before.isEmpty()) {
            return new View(revision, created, null, wanted, false, false);
        }
        KeyValue last = before.get(0);
        boolean blocks = mode == LockMode.EXCLUSIVE || last.getVersion() == 1;
        boolean stranger = keys.parse(last).isEmpty();
        return new View(revision, created, blocks ? last.getKey() : null, wanted, before.size() == SOME, stranger);
    }

    /** Whether a claim still stands in the way as it did. One that was made later under the same key does not. */
    boolean isBlockedBy(RangeResponse found, long createRevision) {
        return found.getKvsCount() > 0
                && found.getKvs(0).getCreateRevision() < createRevision
                && (mode == LockMode.EXCLUSIVE || found.getKvs(0).getVersion() == 1);
    }

    /** Whether what refused a claim that may not wait is a claim, and not a stranger's key. */
    boolean isRefusedByClaim(TxnResponse refusal) {
        return Requests.found(refusal, 2).stream().anyMatch(kv -> keys.parse(kv).isPresent());
    }

    /** Whether a change in the queue is another client's claim that this one blocks. */
    boolean isWantedBy(KeyValue kv, boolean shared, Sessions own) {
        return keys.parse(kv)
                .filter(entry -> kv.getVersion() == 1 && !own.isOwn(kv.getLease()) && !(shared && entry.shared()))
                .isPresent();
    }

    // ---------------------------------------------------------------- changing and leaving

    /** Makes an exclusive claim shared, if it is still there. */
    TxnRequest downgrade(long createRevision, ByteString holder) {
        return TxnRequest.newBuilder()
                .addCompare(Requests.createdAt(key, createRevision))
                .addSuccess(Requests.put(key, holder, session.lease()))
                .build();
    }

    /** Leaves, unless the claim has gone. */
    TxnRequest leave(long createRevision) {
        return TxnRequest.newBuilder()
                .addCompare(Requests.createdAt(key, createRevision))
                .addSuccess(Requests.delete(key))
                .build();
    }

    /** Leaves, and keeps out what was sent under a fence and may still arrive. If the fence has moved, only looks. */
    TxnRequest leaveForGood(long fence) {
        return TxnRequest.newBuilder()
                .addCompare(Requests.writtenAt(session.key(), fence))
                .addSuccess(Requests.delete(key))
                .addSuccess(Requests.put(session.key(), session.value(), session.lease()))
                .addFailure(Requests.op(Requests.look(key)))
                .addFailure(Requests.op(Requests.look(session.key())))
                .build();
    }
}
