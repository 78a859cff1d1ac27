package dev.lockstep.etcd;

import com.google.protobuf.ByteString;
import dev.lockstep.etcd.Keys.Entry;
import dev.lockstep.etcd.proto.Etcd.Compare;
import dev.lockstep.etcd.proto.Etcd.KeyValue;
import dev.lockstep.etcd.proto.Etcd.RangeRequest;
import dev.lockstep.etcd.proto.Etcd.RangeRequest.SortOrder;
import dev.lockstep.etcd.proto.Etcd.RangeRequest.SortTarget;
import dev.lockstep.etcd.proto.Etcd.RangeResponse;
import dev.lockstep.etcd.proto.Etcd.TxnResponse;
import java.util.List;
import java.util.Optional;

/**
 * The relation between the claims of a name: the requests that a claim sends to etcd, and the meaning of the answers.
 * The order of a queue is that of create revisions. Immutable, safe for use by many threads.
 */
abstract class ClaimQueue {
    final Keys keys;
    final ClaimTerms terms;
    final String prefix;
    final ByteString all;

    ClaimQueue(Keys keys, ClaimTerms terms) {
        this.keys = keys;
        this.terms = terms;
        this.prefix = keys.queue(terms.name());
        this.all = Keys.bytes(prefix);
    }

    /** The prefix of the keys of all such claims. */
    abstract String claims();

    /** The keys that a holder watches, for other claims and for the loss of its own key. */
    abstract ByteString watchedWith(ByteString ownKey);

    // ---------------------------------------------------------------- entering

    /** Holds if no claim uses the name in another way: a lock as a semaphore, or with another number of permits. */
    abstract List<Compare> noOthers();

    /** Finds keys for which {@link #noOthers} does not hold. */
    abstract List<RangeRequest.Builder> others();

    /** Holds if nothing blocks a claim; empty if that is the same as an empty queue, or cannot be compared. */
    abstract Optional<Compare> free();

    /** Reads some of the keys that may block a claim, before its own key is put. */
    abstract RangeRequest.Builder some();

    /** The view of a claim that has entered behind the claims found by {@link #some}. */
    abstract View entered(long revision, RangeResponse some);

    /** Whether a claim that may not wait has to be refused because of {@link #some}; empty if that is not certain. */
    abstract Optional<Boolean> refuses(RangeResponse some);

    /** Whether such a claim has to be refused because of the whole queue. */
    abstract boolean refusesAll(List<KeyValue> queue);

    /** The first claim that uses the name in another way. */
    final Optional<Entry> firstOther(List<KeyValue> found) {
        return found.stream()
                .flatMap(kv -> keys.parse(kv).stream())
                .filter(entry -> entry.limit() != terms.limit())
                .findFirst();
    }

    // ---------------------------------------------------------------- looking

    /** Asks for the position in the queue of a claim that has entered, without its own key. */
    abstract List<RangeRequest.Builder> look(long createRevision);

    /** The result, read from the operations after that of the claim's own key. */
    abstract View seen(TxnResponse answer, long createRevision, boolean shared, Sessions own);

    /** The same from the whole queue, in the order of arrival. */
    abstract View seenAround(long revision, long createRevision, List<KeyValue> queue, Sessions own);

    /** The whole queue, in the order of arrival. */
    final RangeRequest.Builder everything() {
        return Txns.lookAll(all).setSortTarget(SortTarget.CREATE).setSortOrder(SortOrder.ASCEND);
    }

    /** Whether the same claim is still in the way. A claim that was made later under the same key is not. */
    final boolean isBlockedBy(RangeResponse found, Blockers blockers, long createRevision) {
        return found.getKvsCount() > 0
                && found.getKvs(0).getCreateRevision() < createRevision
                && stillBlocks(found.getKvs(0), blockers);
    }

    abstract boolean stillBlocks(KeyValue found, Blockers blockers);

    /** Whether a change in the queue is another client's claim that a holder, shared or not, blocks. */
    abstract boolean isWantedBy(KeyValue kv, boolean shared, Sessions own);
}
