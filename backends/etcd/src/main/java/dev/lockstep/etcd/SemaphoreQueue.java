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
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The queue of a semaphore, for claims that are for the same number of permits. */
final class SemaphoreQueue extends ClaimQueue {
    /*
     * Overview. A claim holds if its own permits and those of all claims before it do not exceed the limit. So the
     * holders are the first in the queue, a claim for many permits is not passed by one that came after it, and a claim
     * that holds once holds until it leaves.
     *
     *   the first that does not hold   watches all that stand before it, and counts the permits that they free
     *   each other                     watches the one before it, which does not hold either
     *
     * So a release wakes one claim. A claim that has waited and holds now writes its key again, if the next one could hold
     * beside it: that is what the next one waits for, and it becomes the first that does not hold, or holds too. If no
     * claim was behind it when it found out that it holds, it writes nothing: later claims see that it holds. A claim
     * that dies before it has written is deleted with its lease, which wakes the next one as well.
     *
     * Entering asks for some of the keys, and etcd adds how many there are. The keys of claims for several permits come
     * first, so the rest are claims for one permit, and the sum is known from an answer that is small however many
     * hold. A claim that has to wait reads all claims that can matter: at most one more than there are permits.
     */
    private static final int ENTER_LIMIT = 33;

    private final ByteString semaphore;
    private final String claims;

    SemaphoreQueue(Keys keys, ClaimTerms terms) {
        super(keys, terms);
        String own = Keys.semaphore(prefix, terms.limit());
        this.semaphore = Keys.bytes(own);
        this.claims = Keys.permits(own, terms.permits());
    }

    /** The prefix of the keys of all claims of the semaphore. */
    ByteString semaphore() {
        return semaphore;
    }

    /** The prefix of the keys of all its slots. */
    ByteString slots() {
        return keys.slots(terms.name(), terms.limit());
    }

    /** The key that stores the slots of a claim. */
    ByteString slotKey(ByteString claim) {
        return slots().concat(claim.substring(semaphore.size()));
    }

    @Override
    String claims() {
        return claims;
    }

    /** Nobody asks a holder for its permit, so it does not watch other claims. */
    @Override
    ByteString watchedWith(ByteString ownKey) {
        return ownKey;
    }

    @Override
    List<Compare> noOthers() {
        return List.of(Txns.noneBetween(all, semaphore), Txns.noneBetween(Keys.endOf(semaphore), Keys.endOf(all)));
    }

    @Override
    List<RangeRequest.Builder> others() {
        return List.of(
                Txns.look(all).setRangeEnd(semaphore).setLimit(1),
                Txns.look(Keys.endOf(semaphore)).setRangeEnd(Keys.endOf(all)).setLimit(1));
    }

    /** How many permits are free is a sum, which etcd cannot compare. */
    @Override
    Optional<Compare> free() {
        return Optional.empty();
    }

    @Override
    RangeRequest.Builder some() {
        return Txns.lookAll(semaphore).setLimit(ENTER_LIMIT);
    }

    @Override
    View entered(long revision, RangeResponse some) {
        Optional<Boolean> refused = refuses(some);
        if (refused.isPresent() && !refused.get()) {
            return View.holds(revision, revision);
        }
        return refused.isPresent() && some.getKvsCount() == some.getCount()
                ? View.of(revision, revision, blockers(entries(some.getKvsList()), revision))
                : View.crowded(revision, revision);
    }

    @Override
    Optional<Boolean> refuses(RangeResponse some) {
        List<Entry> seen = entries(some.getKvsList());
        long unseen = some.getCount() - some.getKvsCount();
        if (unseen > 0) {
            KeyValue last = some.getKvs(some.getKvsCount() - 1);
            if (keys.parse(last).filter(entry -> entry.permits() == 1).isEmpty()) {
                return Optional.empty();
            }
        }
        return Optional.of(permits(seen) + unseen + terms.permits() > terms.limit());
    }

    @Override
    boolean refusesAll(List<KeyValue> queue) {
        return permits(entries(queue)) + terms.permits() > terms.limit();
    }

    /** The claims of the semaphore among some keys. */
    List<Entry> entries(List<KeyValue> found) {
        return found.stream()
                .flatMap(kv -> keys.parse(kv).stream())
                .filter(entry -> entry.limit() == terms.limit())
                .toList();
    }

    private static long permits(List<Entry> entries) {
        return entries.stream().mapToLong(Entry::permits).sum();
    }

    @Override
    List<RangeRequest.Builder> look(long createRevision) {
        return List.of(
                Txns.lookAll(semaphore)
                        .setSortTarget(SortTarget.CREATE)
                        .setSortOrder(SortOrder.DESCEND)
                        .setLimit(terms.limit() + 1L)
                        .setMaxCreateRevision(createRevision - 1),
                Txns.lookAll(semaphore)
                        .setSortTarget(SortTarget.CREATE)
                        .setSortOrder(SortOrder.ASCEND)
                        .setLimit(1)
                        .setMinCreateRevision(createRevision + 1));
    }

    @Override
    View seen(TxnResponse answer, long createRevision, boolean shared, Sessions own) {
        long revision = answer.getHeader().getRevision();
        List<KeyValue> before = Txns.found(answer, 1);
        List<Entry> entries = entries(before);
        if (entries.size() < before.size() && before.size() > terms.limit()) {
            return View.strange(revision, createRevision);
        }
        boolean heir = Txns.found(answer, 2).stream().anyMatch(this::mayHoldBeside);
        return View.of(revision, createRevision, blockers(entries, revision)).heir(heir);
    }

    /** A claim that cannot be parsed counts as one that may: an unneeded announcement does no harm. */
    private boolean mayHoldBeside(KeyValue next) {
        return keys.parse(next)
                .map(entry -> (long) entry.permits() + terms.permits() <= terms.limit())
                .orElse(true);
    }

    @Override
    View seenAround(long revision, long createRevision, List<KeyValue> queue, Sessions own) {
        List<Entry> entries = entries(queue);
        List<Entry> before = entries.stream()
                .filter(entry -> entry.createRevision() < createRevision)
                .toList();
        Optional<Entry> next = entries.stream()
                .filter(entry -> entry.createRevision() > createRevision)
                .min(Comparator.comparingLong(Entry::createRevision));
        return View.of(revision, createRevision, blockers(before, revision))
                .heir(next.filter(entry -> mayHoldBeside(entry.kv())).isPresent());
    }

    /**
     * The keys that a claim waits for.
     *
     * @param before all claims before it, or more of them than there are permits and the last one among them
     * @return empty if it holds
     */
    private Optional<Blockers> blockers(List<Entry> before, long revision) {
        long held = permits(before);
        long missing = held + terms.permits() - terms.limit();
        if (missing <= 0) {
            return Optional.empty();
        }
        Entry last = before.stream()
                .max(Comparator.comparingLong(Entry::createRevision))
                .orElseThrow(); // a claim alone is not for more permits than there are
        if (held > terms.limit()) {
            return Optional.of(Blockers.last(last.kv(), revision));
        }
        if (before.size() == 1) {
            return Optional.of(Blockers.only(last.kv(), last.permits(), missing, revision));
        }
        Map<ByteString, Integer> holders = new HashMap<>();
        before.forEach(entry -> holders.put(entry.kv().getKey(), entry.permits()));
        return Optional.of(Blockers.holders(semaphore, holders, missing, revision));
    }

    @Override
    boolean stillBlocks(KeyValue found, Blockers known) {
        return found.getVersion() == known.version();
    }

    @Override
    boolean isWantedBy(KeyValue kv, boolean shared, Sessions own) {
        return false;
    }
}
