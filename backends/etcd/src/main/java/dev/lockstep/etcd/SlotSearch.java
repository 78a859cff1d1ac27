package dev.lockstep.etcd;

import com.google.protobuf.ByteString;
import dev.lockstep.LockLostException;
import dev.lockstep.LossReason;
import dev.lockstep.etcd.Keys.Entry;
import dev.lockstep.etcd.proto.Etcd.KeyValue;
import dev.lockstep.etcd.proto.Etcd.RangeRequest;
import dev.lockstep.etcd.proto.Etcd.TxnRequest;
import dev.lockstep.etcd.proto.Etcd.TxnResponse;
import dev.lockstep.spi.HolderText;
import dev.lockstep.spi.Retry;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Finds the slots of one holder of a semaphore. Used once. */
final class SlotSearch {
    /*
     * Overview. Slots are stored beside the claims: a key for each claim that has some, on the claim's own lease, with the
     * claim's create revision. A holder whose slots are asked for gives slots to itself, and first to all older holders that
     * have none, the oldest first:
     *
     *   read the claims up to its own, and all slots
     *   if nobody has written slots since, and the own claim is there: put the slots
     *
     * So a holder has slots only if all older holders have some. That is why tokens rise for each slot: if a slot had
     * belonged to a younger holder before, then this one, which was there already, would have been given its own slots at
     * that time. Those that wait are younger than all holders, and have none.
     *
     * Slots whose claim has gone are free, and are deleted by the next search; a holder that has searched itself deletes its
     * own with its claim. There are enough: the permits of the claims up to a holder are not more than there are slots.
     */
    private static final int BATCH = 50; // etcd takes 128 operations in a transaction, unless it is set otherwise

    private final EtcdBackend backend;
    private final SemaphoreQueue queue;
    private final ByteString own;
    private final long token;
    private final Runnable gone;
    private final CompletableFuture<List<Integer>> found;
    private final Retry retry;

    /**
     * Makes it.
     *
     * @param gone called if the holder's key is not there any more
     */
    SlotSearch(
            EtcdBackend backend,
            SemaphoreQueue queue,
            ByteString own,
            long token,
            Runnable gone,
            CompletableFuture<List<Integer>> found) {
        this.backend = backend;
        this.queue = queue;
        this.own = own;
        this.token = token;
        this.gone = gone;
        this.found = found;
        this.retry = Retry.until(backend.context(), backend.context().requestDeadlineNanos());
    }

    void start() {
        RangeRequest.Builder slots =
                RangeRequest.newBuilder().setKey(queue.slots()).setRangeEnd(Keys.endOf(queue.slots()));
        TxnRequest read = TxnRequest.newBuilder()
                .addSuccess(Txns.op(Txns.lookAll(queue.semaphore()).setMaxCreateRevision(token)))
                .addSuccess(Txns.op(slots))
                .build();
        backend.link().call(Rpc.TXN, read).whenComplete((answer, failure) -> {
            if (failure != null) {
                found.completeExceptionally(failure);
                return;
            }
            try {
                decide(answer);
            } catch (RuntimeException e) {
                found.completeExceptionally(e);
            }
        });
    }

    /** The slots of one claim. */
    private record Assignment(long claim, List<Integer> slots) {}

    private void decide(TxnResponse answer) {
        List<Entry> claims = queue.entries(Txns.found(answer, 0)).stream()
                .sorted(Comparator.comparingLong(Entry::createRevision))
                .toList();
        if (claims.stream().noneMatch(claim -> claim.createRevision() == token)) {
            gone.run();
            throw new LockLostException(queue.terms.name(), LossReason.REVOKED, backend.address());
        }
        Map<ByteString, Assignment> stored = new HashMap<>();
        Txns.found(answer, 1).forEach(kv -> stored.put(kv.getKey(), read(kv)));
        Map<ByteString, Long> alive = new HashMap<>();
        claims.forEach(claim -> alive.put(queue.slotKey(claim.kv().getKey()), claim.createRevision()));
        BitSet used = new BitSet();
        stored.forEach((key, slots) -> {
            if (isAlive(slots, alive.get(key))) {
                slots.slots.forEach(used::set);
            }
        });
        Assignment mine = stored.get(queue.slotKey(own));
        if (mine != null && mine.claim == token) {
            found.complete(mine.slots);
            return;
        }
        write(answer.getHeader().getRevision(), claims, stored, alive, used);
    }

    /** Whether a claim still has its slots. Those of younger claims were not looked up. */
    private boolean isAlive(Assignment slots, @Nullable Long claim) {
        return slots.claim > token || (claim != null && claim == slots.claim);
    }

    private void write(
            long revision,
            List<Entry> claims,
            Map<ByteString, Assignment> stored,
            Map<ByteString, Long> alive,
            BitSet used) {
        TxnRequest.Builder write = TxnRequest.newBuilder()
                .addCompare(Txns.createdAt(own, token))
                .addCompare(Txns.noneWrittenAfter(revision, queue.slots()));
        @Nullable List<Integer> mine = null;
        int count = 0;
        for (Entry claim : claims) {
            ByteString key = queue.slotKey(claim.kv().getKey());
            Assignment known = stored.get(key);
            if (count == BATCH || (known != null && known.claim == claim.createRevision())) {
                continue;
            }
            List<Integer> lowest = lowest(used, claim.permits());
            write.addSuccess(Txns.put(
                    key, value(claim.createRevision(), lowest), claim.kv().getLease()));
            stored.remove(key); // overwritten
            mine = claim.createRevision() == token ? lowest : null;
            count++;
        }
        stored.entrySet().stream()
                .filter(slots -> !isAlive(slots.getValue(), alive.get(slots.getKey())))
                .limit(BATCH)
                .forEach(slots -> write.addSuccess(Txns.delete(slots.getKey())));
        @Nullable List<Integer> assigned = mine;
        backend.link().call(Rpc.TXN, write.build()).whenComplete((answer, failure) -> {
            if (failure == null && answer.getSucceeded() && assigned != null) {
                found.complete(assigned);
            } else if (failure == null) {
                start(); // others have written, or there are more to write
            } else if (!Failure.isLeaseGone(failure) || !retry.later(this::start)) {
                found.completeExceptionally(failure); // otherwise an older holder has just gone
            }
        });
    }

    private static List<Integer> lowest(BitSet used, int count) {
        List<Integer> lowest = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int slot = used.nextClearBit(0);
            used.set(slot);
            lowest.add(slot);
        }
        return List.copyOf(lowest);
    }

    private static ByteString value(long claim, List<Integer> slots) {
        String numbers = slots.stream().map(String::valueOf).collect(Collectors.joining(","));
        return Keys.bytes(HolderText.line("created", Long.toString(claim)) + HolderText.line("slots", numbers));
    }

    /** Reads stored slots; those that a stranger wrote belong to no claim. */
    private Assignment read(KeyValue kv) {
        Map<String, String> facts = HolderText.read(kv.getValue().toStringUtf8());
        try {
            List<Integer> slots = Arrays.stream(facts.getOrDefault("slots", "").split(","))
                    .map(Integer::valueOf)
                    .toList();
            boolean valid = slots.stream().allMatch(slot -> slot >= 0 && slot < queue.terms.limit());
            return new Assignment(
                    valid ? Long.parseLong(facts.getOrDefault("created", "")) : 0, valid ? slots : List.of());
        } catch (NumberFormatException e) {
            return new Assignment(0, List.of());
        }
    }
}
