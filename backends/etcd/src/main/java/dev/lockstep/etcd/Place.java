package dev.lockstep.etcd;

import com.google.protobuf.ByteString;
import dev.lockstep.LockMode;
import dev.lockstep.etcd.Keys.Entry;
import dev.lockstep.etcd.proto.Etcd.Compare.CompareResult;
import dev.lockstep.etcd.proto.Etcd.DeleteRangeRequest;
import dev.lockstep.etcd.proto.Etcd.KeyValue;
import dev.lockstep.etcd.proto.Etcd.RangeRequest;
import dev.lockstep.etcd.proto.Etcd.RangeRequest.SortOrder;
import dev.lockstep.etcd.proto.Etcd.RangeRequest.SortTarget;
import dev.lockstep.etcd.proto.Etcd.RangeResponse;
import dev.lockstep.etcd.proto.Etcd.TxnRequest;
import dev.lockstep.etcd.proto.Etcd.TxnResponse;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A claim's place in a lock's queue, in one session: its key, and the requests that are made with it. The order of the
 * queue is that of create revisions. Immutable.
 */
final class Place {
    /*
     * Overview. An exclusive claim waits for the claim before it, of whatever mode; a shared claim waits for the last
     * exclusive claim before it. An exclusive claim that holds may become shared: its key is written again, so that its
     * version is above 1, and keeps its place. It was first in the queue then, so the last exclusive claim before a
     * shared one either was never written again, and blocks it, or was, and is the only one there.
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
    private final ByteString queue;
    private final ByteString blockers;
    private final ByteString key;

    Place(Keys keys, Session session, String lockName, LockMode mode, String claimId) {
        this.keys = keys;
        this.session = session;
        this.mode = mode;
        String prefix = keys.queue(lockName);
        this.queue = Keys.bytes(prefix);
        this.blockers = Keys.bytes(Keys.blockers(prefix, mode));
        this.key = Keys.claim(prefix, mode, claimId, session.lease());
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
                .addCompare(Requests.version(session.key(), CompareResult.EQUAL, fence))
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
                .addSuccess(Requests.op(Requests.look(key)))
                .addFailure(Requests.op(Requests.look(key)))
                .addFailure(Requests.op(Requests.look(session.key())))
                .addFailure(Requests.op(some()))
                .build();
    }

    /** The view of a claim that has entered. */
    View entered(TxnResponse answer) {
        return view(answer, Requests.found(answer, 2), Requests.found(answer, 0), false);
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

    View seen(TxnResponse answer, boolean shared, String clientId) {
        boolean wanted = Requests.found(answer, 2).stream().anyMatch(kv -> isWantedBy(kv, shared, clientId));
        return view(answer, Requests.found(answer, 0), Requests.found(answer, 1), wanted);
    }

    /** Asks for the whole queue. */
    TxnRequest lookAround() {
        return TxnRequest.newBuilder()
                .addSuccess(Requests.op(Requests.look(key)))
                .addSuccess(Requests.op(
                        Requests.lookAll(queue).setSortTarget(SortTarget.CREATE).setSortOrder(SortOrder.ASCEND)))
                .build();
    }

    View seenAround(TxnResponse answer, String clientId) {
        List<KeyValue> own = Requests.found(answer, 0);
        long created = own.isEmpty() ? 0 : own.get(0).getCreateRevision();
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
                wanted |= collides && !entry.get().isOf(clientId);
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

    private View view(TxnResponse answer, List<KeyValue> own, List<KeyValue> before, boolean wanted) {
        long revision = answer.getHeader().getRevision();
        long created = own.isEmpty() ? 0 : own.get(0).getCreateRevision();
        if (before.isEmpty()) {
            return new View(revision, created, null, wanted, false, false);
        }
        KeyValue last = before.get(0);
        boolean blocks = mode == LockMode.EXCLUSIVE || last.getVersion() == 1;
        boolean stranger = keys.parse(last).isEmpty();
        return new View(revision, created, blocks ? last.getKey() : null, wanted, before.size() == SOME, stranger);
    }

    /** Whether a claim still stands in the way as it did. */
    boolean isBlockedBy(RangeResponse found) {
        return found.getKvsCount() > 0
                && (mode == LockMode.EXCLUSIVE || found.getKvs(0).getVersion() == 1);
    }

    /** Whether what refused a claim that may not wait is a claim, and not a stranger's key. */
    boolean isRefusedByClaim(TxnResponse refusal) {
        return Requests.found(refusal, 2).stream().anyMatch(kv -> keys.parse(kv).isPresent());
    }

    /** Whether a change in the queue is another client's claim that this one blocks. */
    boolean isWantedBy(KeyValue kv, boolean shared, String clientId) {
        return keys.parse(kv)
                .filter(entry -> kv.getVersion() == 1 && !entry.isOf(clientId) && !(shared && entry.shared()))
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

    DeleteRangeRequest leave() {
        return DeleteRangeRequest.newBuilder().setKey(key).build();
    }

    /** Leaves, and keeps out what was sent before and may still arrive. */
    TxnRequest leaveForGood() {
        return TxnRequest.newBuilder()
                .addCompare(Requests.version(session.key(), CompareResult.GREATER, 0))
                .addSuccess(Requests.delete(key))
                .addSuccess(Requests.put(session.key(), session.value(), session.lease()))
                .addSuccess(Requests.op(Requests.look(session.key())))
                .addFailure(Requests.delete(key))
                .build();
    }
}
