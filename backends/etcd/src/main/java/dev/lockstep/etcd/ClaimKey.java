package dev.lockstep.etcd;

import com.google.protobuf.ByteString;
import dev.lockstep.etcd.Keys.Entry;
import dev.lockstep.etcd.proto.Etcd.KeyValue;
import dev.lockstep.etcd.proto.Etcd.RangeRequest;
import dev.lockstep.etcd.proto.Etcd.RangeResponse;
import dev.lockstep.etcd.proto.Etcd.ResponseOp;
import dev.lockstep.etcd.proto.Etcd.TxnRequest;
import dev.lockstep.etcd.proto.Etcd.TxnResponse;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A claim's place in a queue, in one session: its key, and the requests that are made with it. Safe for use by many threads.
 */
final class ClaimKey {
    /*
     * Overview. Claims use the key one after the other: a session gives it to one claim at a time, and to the next one
     * only when the last one has certainly left. So a claim that has the place and finds the key under the session's
     * lease has found itself. But a request that was sent and not answered may arrive at any later time, and must not
     * touch the next claim: it compares the create revision, which no two claims share, or the session's fence, which
     * has moved since.
     *
     * Entering is a small transaction that is enough for a name that nobody uses: if the fence is as known and there is no
     * key in the queue, put the key. The full form is inside it, for the case that there is one, so that both are one
     * request:
     *
     *   if    the fence is as known, and the queue is empty
     *   then  put
     *   else  if    the fence is as known, the key is not there, and nobody uses the name in another way
     *         then  some of the queue; put
     *         else  the key, the session's key, some of the queue, some claims that use the name in another way
     *
     * For a name that the client has found unused several times, the small transaction is sent alone, and all of it only if that
     * fails: the server has less to read, to log and to copy to its members.
     *
     * A claim that may not wait has one condition more, if there is one that etcd can compare: nothing blocks it. If there is
     * none, or a stranger's key is in the way, it first looks, and enters if nobody has come since.
     */
    private final ClaimQueue queue;
    private final Session session;
    private final int index;
    private final ByteString key;
    private final AtomicReference<@Nullable Release> release = new AtomicReference<>();
    private boolean freed; // guarded by this

    /** Made by its session, which has reserved the index. */
    ClaimKey(ClaimQueue queue, Session session, int index) {
        this.queue = queue;
        this.session = session;
        this.index = index;
        this.key = Keys.bytes(queue.claims() + session.number() + "." + index);
    }

    Session session() {
        return session;
    }

    ByteString bytes() {
        return key;
    }

    ClaimQueue queue() {
        return queue;
    }

    /** The key that stores what the holder waits for. */
    ByteString waitKey() {
        return queue.keys.wait(key);
    }

    /** Whether the value found at the key is attached to the session's lease, and so belongs to this claim. */
    boolean isOwn(KeyValue found) {
        return found.getLease() == session.lease();
    }

    /** The claim has certainly left, or never came: the key may be used again. */
    synchronized void free() {
        if (!freed) {
            freed = true;
            session.free(queue.claims(), index);
        }
    }

    /** A stranger's key is there: the place is not used again. */
    synchronized void block() {
        freed = true;
    }

    /** The claim leaves once, however often it is asked to: the first release, which may be this one. */
    Release release(Release next) {
        Release known = release.compareAndExchange(null, next);
        return known == null ? next : known;
    }

    // ---------------------------------------------------------------- entering

    /** Enters the queue, once, if the queue is empty. A failure does not say what is in the queue. */
    TxnRequest enterIfUnused(ByteString holder, long fence) {
        return small(holder, fence).build();
    }

    private TxnRequest.Builder small(ByteString holder, long fence) {
        return TxnRequest.newBuilder()
                .addCompare(Txns.writtenAt(session.key(), fence))
                .addCompare(Txns.noneBeginsWith(queue.all))
                .addSuccess(Txns.put(key, holder, session.lease()));
    }

    /** Enters the queue, once: behind all others, or, if it may not wait, only if nothing there blocks it. */
    TxnRequest enter(ByteString holder, boolean onlyIfFree, long fence) {
        TxnRequest.Builder small = small(holder, fence);
        TxnRequest.Builder full = full(holder, fence).addAllCompare(queue.noOthers());
        if (onlyIfFree) {
            if (queue.free().isEmpty()) {
                return small.addAllFailure(full.getFailureList()).build();
            }
            full.addCompare(queue.free().get());
        }
        return small.addFailure(Txns.op(full)).build();
    }

    /** Enters the queue, once, if nobody has come since a revision. */
    TxnRequest enterAfter(long revision, ByteString holder, long fence) {
        return full(holder, fence)
                .addCompare(Txns.noneCreatedAfter(revision, queue.all))
                .build();
    }

    private TxnRequest.Builder full(ByteString holder, long fence) {
        TxnRequest.Builder full = TxnRequest.newBuilder()
                .addCompare(Txns.writtenAt(session.key(), fence))
                .addCompare(Txns.absent(key))
                .addSuccess(Txns.op(queue.some()))
                .addSuccess(Txns.put(key, holder, session.lease()))
                .addFailure(Txns.op(Txns.look(key)))
                .addFailure(Txns.op(Txns.look(session.key())))
                .addFailure(Txns.op(queue.some()));
        queue.others().forEach(other -> full.addFailure(Txns.op(other)));
        return full;
    }

    /** The answer of the inner transaction, if that decided. */
    private static TxnResponse decisive(TxnResponse answer) {
        boolean outer = answer.getSucceeded() || !answer.getResponses(0).hasResponseTxn();
        return outer ? answer : answer.getResponses(0).getResponseTxn();
    }

    /** Whether the key was put. */
    static boolean hasEntered(TxnResponse answer) {
        return decisive(answer).getSucceeded();
    }

    /** Whether the key was put because there was no other. */
    static boolean wasUnused(TxnResponse answer) {
        return answer.getSucceeded() && answer.getResponses(0).hasResponsePut();
    }

    /** The view of a claim that has entered: the transaction's revision is its key's. */
    View entered(TxnResponse answer) {
        long revision = answer.getHeader().getRevision();
        ResponseOp first = decisive(answer).getResponses(0);
        return first.hasResponseRange()
                ? queue.entered(revision, first.getResponseRange())
                : View.holds(revision, revision);
    }

    /**
     * Why a claim has not entered.
     *
     * @param revision of the store, when this was so
     * @param own the claim's key
     * @param session the session's key
     * @param some of the queue
     * @param other a claim that uses the name in another way
     * @param strange whether a stranger's key looks like one
     */
    record Refusal(
            long revision,
            List<KeyValue> own,
            List<KeyValue> session,
            RangeResponse some,
            Optional<Entry> other,
            boolean strange) {}

    Refusal refusal(TxnResponse answer) {
        TxnResponse refusal = decisive(answer);
        List<KeyValue> others = refusal.getResponsesList().stream()
                .skip(3)
                .flatMap(found -> found.getResponseRange().getKvsList().stream())
                .toList();
        Optional<Entry> other = queue.firstOther(others);
        return new Refusal(
                answer.getHeader().getRevision(),
                Txns.found(refusal, 0),
                Txns.found(refusal, 1),
                refusal.getResponses(2).getResponseRange(),
                other,
                other.isEmpty() && !others.isEmpty());
    }

    // ---------------------------------------------------------------- looking

    /** Asks for the position in the queue of a claim that has entered. */
    TxnRequest look(long createRevision) {
        return look(queue.look(createRevision));
    }

    /** Asks for the whole queue. */
    TxnRequest lookAround() {
        return look(List.of(queue.everything()));
    }

    private TxnRequest look(Collection<RangeRequest.Builder> ranges) {
        TxnRequest.Builder look = TxnRequest.newBuilder().addSuccess(Txns.op(Txns.look(key)));
        ranges.forEach(range -> look.addSuccess(Txns.op(range)));
        return look.build();
    }

    /** The result of a look, for a claim that holds, shared by now or not, or for one that waits. */
    View seen(TxnResponse answer, long createRevision, boolean shared, Sessions own) {
        return queue.seen(answer, ifPresent(answer, createRevision), shared, own);
    }

    View seenAround(TxnResponse answer, long createRevision, Sessions own) {
        return queue.seenAround(
                answer.getHeader().getRevision(), ifPresent(answer, createRevision), Txns.found(answer, 1), own);
    }

    /** The create revision, if the key that was found first still has it; 0 if that claim has gone. */
    private static long ifPresent(TxnResponse answer, long createRevision) {
        return Txns.found(answer, 0).stream().anyMatch(kv -> kv.getCreateRevision() == createRevision)
                ? createRevision
                : 0;
    }

    // ---------------------------------------------------------------- changing and leaving

    /** Writes the key again, if the claim is still there: it becomes shared, or says that it holds now. */
    TxnRequest writeAgain(long createRevision, ByteString holder) {
        return TxnRequest.newBuilder()
                .addCompare(Txns.createdAt(key, createRevision))
                .addSuccess(Txns.put(key, holder, session.lease()))
                .build();
    }

    /** Stores something beside the key, if the claim is still there; nothing removes it. */
    TxnRequest store(long createRevision, ByteString beside, Optional<ByteString> value) {
        return TxnRequest.newBuilder()
                .addCompare(Txns.createdAt(key, createRevision))
                .addSuccess(value.isPresent() ? Txns.put(beside, value.get(), session.lease()) : Txns.delete(beside))
                .build();
    }

    /** Leaves, unless the claim has gone, with what is stored beside the key. */
    TxnRequest leave(long createRevision, Collection<ByteString> beside) {
        TxnRequest.Builder leave = TxnRequest.newBuilder()
                .addCompare(Txns.createdAt(key, createRevision))
                .addSuccess(Txns.delete(key));
        beside.forEach(stored -> leave.addSuccess(Txns.delete(stored)));
        return leave.build();
    }

    /**
     * Leaves, and keeps out requests that were sent under a fence and may still arrive. If the fence has moved, only
     * looks.
     */
    TxnRequest leaveForGood(long fence, Collection<ByteString> beside) {
        TxnRequest.Builder leave = TxnRequest.newBuilder()
                .addCompare(Txns.writtenAt(session.key(), fence))
                .addSuccess(Txns.delete(key))
                .addSuccess(Txns.put(session.key(), session.value(), session.lease()))
                .addFailure(Txns.op(Txns.look(key)))
                .addFailure(Txns.op(Txns.look(session.key())));
        beside.forEach(stored -> leave.addSuccess(Txns.delete(stored)));
        return leave.build();
    }
}
