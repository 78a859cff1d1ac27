package dev.lockstep.etcd;

import com.google.protobuf.ByteString;
import dev.lockstep.LockMode;
import dev.lockstep.etcd.Keys.Entry;
import dev.lockstep.etcd.proto.Etcd.Compare;
import dev.lockstep.etcd.proto.Etcd.Compare.CompareResult;
import dev.lockstep.etcd.proto.Etcd.KeyValue;
import dev.lockstep.etcd.proto.Etcd.RangeRequest;
import dev.lockstep.etcd.proto.Etcd.RangeRequest.SortOrder;
import dev.lockstep.etcd.proto.Etcd.RangeRequest.SortTarget;
import dev.lockstep.etcd.proto.Etcd.RangeResponse;
import dev.lockstep.etcd.proto.Etcd.TxnResponse;
import java.util.List;
import java.util.Optional;

/** The queue of a lock, for claims of one mode. */
final class LockQueue extends ClaimQueue {
    /*
     * Overview. An exclusive claim waits for the claim before it, of whatever mode; a shared claim waits for the last
     * exclusive claim before it. An exclusive claim that holds may become shared: its key is written again, so that its
     * version is above 1, and keeps its place. It was first in the queue then, so the last exclusive claim before a
     * shared one either was never written again, and blocks it, or was, and is the only one there.
     *
     * Entering asks for any two of the claims that may block it, in no order: the server sorts nothing while it applies
     * the transaction, and if there is none, or one, that is enough to know. Otherwise a look follows, which is a read.
     * It is limited to the claim that matters, and one more to know whether that is the only one. If that is a
     * stranger's key, the whole queue is read.
     */
    private static final int BLOCKER_LIMIT = 2;

    private static final int FOLLOWER_LIMIT = 3;

    private final boolean exclusive;
    private final ByteString blockers;
    private final ByteString semaphores;

    LockQueue(Keys keys, ClaimTerms terms) {
        super(keys, terms);
        this.exclusive = terms.mode() == LockMode.EXCLUSIVE;
        this.blockers = exclusive ? all : Keys.bytes(Keys.claims(prefix, LockMode.EXCLUSIVE));
        this.semaphores = Keys.bytes(Keys.semaphores(prefix));
    }

    @Override
    String claims() {
        return Keys.claims(prefix, terms.mode());
    }

    @Override
    ByteString watchedWith(ByteString ownKey) {
        return all;
    }

    @Override
    List<Compare> noOthers() {
        return List.of(Txns.noneBeginsWith(semaphores));
    }

    @Override
    List<RangeRequest.Builder> others() {
        return List.of(Txns.lookAll(semaphores).setLimit(1));
    }

    @Override
    Optional<Compare> free() {
        return exclusive
                ? Optional.empty()
                : Optional.of(Txns.version(blockers, CompareResult.NOT_EQUAL, 1).toBuilder()
                        .setRangeEnd(Keys.endOf(blockers))
                        .build());
    }

    @Override
    RangeRequest.Builder some() {
        return Txns.lookAll(blockers).setLimit(BLOCKER_LIMIT);
    }

    @Override
    View entered(long revision, RangeResponse some) {
        return some.getKvsCount() == BLOCKER_LIMIT
                ? View.crowded(revision, revision)
                : view(revision, revision, some.getKvsList());
    }

    @Override
    Optional<Boolean> refuses(RangeResponse some) {
        // If the key that was found is not a claim, there may be a claim behind it.
        return some.getKvsList().stream().anyMatch(kv -> keys.parse(kv).isPresent())
                ? Optional.of(true)
                : Optional.empty();
    }

    @Override
    boolean refusesAll(List<KeyValue> queue) {
        return queue.stream().flatMap(kv -> keys.parse(kv).stream()).anyMatch(this::collides);
    }

    private boolean collides(Entry entry) {
        return exclusive || !entry.shared();
    }

    @Override
    List<RangeRequest.Builder> look(long createRevision) {
        return List.of(
                Txns.lookAll(blockers)
                        .setSortTarget(SortTarget.CREATE)
                        .setSortOrder(SortOrder.DESCEND)
                        .setLimit(BLOCKER_LIMIT)
                        .setMaxCreateRevision(createRevision - 1),
                // If it holds, the other claims came after it and wait for it: a few of them are enough to know.
                Txns.lookAll(blockers).setLimit(FOLLOWER_LIMIT));
    }

    @Override
    View seen(TxnResponse answer, long createRevision, boolean shared, Sessions own) {
        boolean wanted = Txns.found(answer, 2).stream().anyMatch(kv -> isWantedBy(kv, shared, own));
        return view(answer.getHeader().getRevision(), createRevision, Txns.found(answer, 1))
                .wanted(wanted);
    }

    /**
     * Interprets the last claims before a claim, the last one first; there are no others if fewer than requested came
     * back.
     */
    private View view(long revision, long created, List<KeyValue> before) {
        if (before.isEmpty()) {
            return View.holds(revision, created);
        }
        KeyValue last = before.get(0);
        if (keys.parse(last).isEmpty()) {
            return View.strange(revision, created);
        }
        return blocks(last)
                ? View.blocked(revision, created, waitFor(last, before.size() == 1, revision))
                : View.holds(revision, created);
    }

    private static Blockers waitFor(KeyValue last, boolean only, long revision) {
        return only ? Blockers.only(last, 1, 1, revision) : Blockers.last(last, revision);
    }

    private boolean blocks(KeyValue before) {
        return exclusive || before.getVersion() == 1;
    }

    @Override
    View seenAround(long revision, long created, List<KeyValue> queue, Sessions own) {
        KeyValue blocker = null;
        int count = 0;
        boolean wanted = false;
        for (KeyValue kv : queue) {
            Optional<Entry> entry = keys.parse(kv);
            if (entry.isEmpty() || kv.getCreateRevision() == created || !collides(entry.get())) {
                continue;
            }
            if (kv.getCreateRevision() < created) {
                blocker = kv;
                count++;
            } else {
                wanted |= !own.isOwn(kv.getLease());
            }
        }
        View view = blocker == null
                ? View.holds(revision, created)
                : View.blocked(revision, created, waitFor(blocker, count == 1, revision));
        return view.wanted(wanted);
    }

    @Override
    boolean stillBlocks(KeyValue found, Blockers known) {
        return blocks(found);
    }

    @Override
    boolean isWantedBy(KeyValue kv, boolean shared, Sessions own) {
        return keys.parse(kv)
                .filter(entry -> kv.getVersion() == 1 && !own.isOwn(kv.getLease()) && !(shared && entry.shared()))
                .isPresent();
    }
}
