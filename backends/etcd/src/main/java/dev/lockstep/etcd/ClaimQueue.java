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
 * How the claims of a name stand to each other: what one of them has to ask of etcd, and what the answer means. The order of
 * a queue is that of create revisions. Immutable, safe for use by many threads.
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

    /** What the keys of all such claims begin with. */
    abstract String claims();

    /** What a holder watches, for others who want the lock and for the loss of its own key. */
    abstract ByteString watchedWith(ByteString ownKey);

    // ---------------------------------------------------------------- entering

    /** Holds if no claim uses the name in another way: a lock as a semaphore, or with another number of permits. */
    abstract List<Compare> noOthers();

    /** Finds keys for which {@link #noOthers} does not hold. */
    abstract List<RangeRequest.Builder> others();

    /** Holds if nothing blocks a claim; empty if that is the same as an empty queue, or cannot be compared. */
    abstract Optional<Compare> free();

    /** Some of what may block a claim, before its own key is put. */
    abstract RangeRequest.Builder some();

    /** The view of a claim that has entered behind those that were found by {@link #some}. */
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

    /** Asks how the queue stands to a claim that has entered, beside its own key. */
    abstract List<RangeRequest.Builder> look(long createRevision);

    /** What was found, from the operation after that of the own key on. */
    abstract View seen(TxnResponse answer, long createRevision, boolean shared, Sessions own);

    /** The same from the whole queue, in the order of arrival. */
    abstract View seenAround(long revision, long createRevision, List<KeyValue> queue, Sessions own);

    /** The whole queue, in the order of arrival. */
    final RangeRequest.Builder everything() {
        return Txns.lookAll(all).setSortTarget(SortTarget.CREATE).setSortOrder(SortOrder.ASCEND);
    }

    /** Whether a claim still stands in the way as it did. One that was made later under the same key does not. */
    final boolean isBlockedBy(RangeResponse found, Blockers blockers, long createRevision) {
        return found.getKvsCount() > 0
                && found.getKvs(0).getCreateRevision() < createRevision
                && stillBlocks(found.getKvs(0), blockers);
    }

    abstract boolean stillBlocks(KeyValue found, Blockers blockers);

    /** Whether a change in the queue is another client's claim that a holder, shared or not, blocks. */
    abstract boolean isWantedBy(KeyValue kv, boolean shared, Sessions own);
}
