package dev.lockstep.etcd;

import com.google.protobuf.ByteString;
import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
import dev.lockstep.etcd.Keys.Entry;
import dev.lockstep.etcd.proto.Etcd.LeaseTimeToLiveRequest;
import dev.lockstep.etcd.proto.Etcd.RangeRequest;
import dev.lockstep.etcd.proto.Etcd.RangeResponse;
import dev.lockstep.etcd.proto.Etcd.TxnRequest;
import dev.lockstep.etcd.proto.Etcd.TxnResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;

/** Answers operators' questions by reading queues, a page at a time and all pages as of one revision. */
final class Operators {
    private static final int PAGE = 1_000;
    private static final int LEASES_AT_ONCE = 100;

    private final Wire wire;
    private final Keys keys;

    Operators(Wire wire, Keys keys) {
        this.wire = wire;
        this.keys = keys;
    }

    /** Asks the leader, and through it a majority. */
    CompletableFuture<Void> ping() {
        return wire.call(
                        Rpc.RANGE,
                        Requests.look(Keys.bytes(keys.root()))
                                .setCountOnly(true)
                                .build())
                .thenApply(answer -> null);
    }

    CompletableFuture<LockInfo> inspect(String name) {
        return queue(name).thenCompose(queue -> timesLeft(List.of(queue)).thenApply(left -> info(name, queue, left)));
    }

    CompletableFuture<List<LockInfo>> list(String prefix) {
        return entries(keys.locksThatBeginWith(prefix)).thenCompose(entries -> {
            Map<String, List<Entry>> queues = new LinkedHashMap<>();
            entries.forEach(entry -> queues.computeIfAbsent(entry.name(), name -> new ArrayList<>())
                    .add(entry));
            return timesLeft(queues.values())
                    .thenApply(left -> queues.entrySet().stream()
                            .map(queue -> info(queue.getKey(), queue.getValue(), left))
                            .toList());
        });
    }

    /** Ends the grants of a lock that are meant; none that came since the queue was read. */
    CompletableFuture<Boolean> forceRelease(String name, Predicate<Entry> which) {
        return queue(name).thenCompose(queue -> {
            CompletableFuture<Boolean> any = CompletableFuture.completedFuture(false);
            List<Entry> ended =
                    queue.subList(0, holders(queue)).stream().filter(which).toList();
            for (Entry entry : ended) {
                // Its client may use the key again for its next claim.
                TxnRequest end = TxnRequest.newBuilder()
                        .addCompare(Requests.createdAt(entry.kv().getKey(), entry.createRevision()))
                        .addSuccess(Requests.delete(entry.kv().getKey()))
                        .build();
                any = any.thenCombine(wire.call(Rpc.TXN, end).thenApply(TxnResponse::getSucceeded), Boolean::logicalOr);
            }
            return any;
        });
    }

    /** All namespaces that have a key: skips from the first key of one to that of the next. */
    static CompletableFuture<List<String>> namespaces(Wire wire) {
        return namespaces(wire, Keys.bytes(Keys.ALL), new ArrayList<>());
    }

    private static CompletableFuture<List<String>> namespaces(Wire wire, ByteString from, List<String> found) {
        RangeRequest next = Requests.look(from)
                .setRangeEnd(Keys.endOf(Keys.bytes(Keys.ALL)))
                .setLimit(1)
                .build();
        return wire.call(Rpc.RANGE, next).thenCompose(answer -> {
            if (answer.getKvsCount() == 0) {
                return CompletableFuture.completedFuture(found);
            }
            ByteString key = answer.getKvs(0).getKey();
            Optional<String> namespace = Keys.namespaceOf(key);
            namespace.ifPresent(found::add);
            return namespaces(
                    wire,
                    namespace.map(Keys::after).orElseGet(() -> key.concat(ByteString.copyFrom(new byte[1]))),
                    found);
        });
    }

    private CompletableFuture<List<Entry>> queue(String name) {
        return entries(Keys.bytes(keys.queue(name)));
    }

    /** All claims under a prefix, in the order of their arrival. */
    private CompletableFuture<List<Entry>> entries(ByteString prefix) {
        RangeRequest first = RangeRequest.newBuilder()
                .setKey(prefix)
                .setRangeEnd(Keys.endOf(prefix))
                .setLimit(PAGE)
                .build();
        return pages(first, new ArrayList<>()).thenApply(entries -> {
            entries.sort(Comparator.comparingLong(Entry::createRevision));
            return entries;
        });
    }

    private CompletableFuture<List<Entry>> pages(RangeRequest page, List<Entry> entries) {
        return wire.call(Rpc.RANGE, page).thenCompose(answer -> {
            answer.getKvsList().forEach(kv -> keys.parse(kv).ifPresent(entries::add));
            return answer.getMore() ? pages(after(page, answer), entries) : CompletableFuture.completedFuture(entries);
        });
    }

    private static RangeRequest after(RangeRequest page, RangeResponse answer) {
        long revision = page.getRevision() == 0 ? answer.getHeader().getRevision() : page.getRevision();
        ByteString last = answer.getKvs(answer.getKvsCount() - 1).getKey();
        return page.toBuilder()
                .setKey(last.concat(ByteString.copyFrom(new byte[1])))
                .setRevision(revision)
                .build();
    }

    private static LockInfo info(String name, List<Entry> queue, Map<Long, Duration> timesLeft) {
        int holders = holders(queue);
        return LockInfo.of(
                name,
                queue.subList(0, holders).stream()
                        .map(entry -> holder(entry, timesLeft))
                        .toList(),
                queue.subList(holders, queue.size()).stream()
                        .map(Operators::waiter)
                        .toList());
    }

    private static LockInfo.Entry waiter(Entry entry) {
        return LockInfo.Entry.of(
                entry.shared() ? LockMode.SHARED : LockMode.EXCLUSIVE,
                Holders.read(entry.kv().getValue()));
    }

    private static LockInfo.Entry holder(Entry entry, Map<Long, Duration> timesLeft) {
        LockInfo.Entry holder = waiter(entry).withToken(entry.createRevision());
        Duration left = timesLeft.get(entry.kv().getLease());
        return left == null ? holder : holder.withRemaining(left);
    }

    /** How long the leases of holders last if nobody renews them: one request for each lease, which has many locks. */
    private CompletableFuture<Map<Long, Duration>> timesLeft(Collection<List<Entry>> queues) {
        List<Long> leases = queues.stream()
                .flatMap(queue -> queue.subList(0, holders(queue)).stream())
                .map(entry -> entry.kv().getLease())
                .distinct()
                .toList();
        return timesLeft(leases, 0, new ConcurrentHashMap<>());
    }

    private CompletableFuture<Map<Long, Duration>> timesLeft(List<Long> leases, int from, Map<Long, Duration> left) {
        if (from >= leases.size()) {
            return CompletableFuture.completedFuture(left);
        }
        int to = Math.min(from + LEASES_AT_ONCE, leases.size());
        CompletableFuture<?>[] some = leases.subList(from, to).stream()
                .map(lease -> wire.call(
                                Rpc.LEASE_TIME_TO_LIVE,
                                LeaseTimeToLiveRequest.newBuilder().setID(lease).build())
                        .thenAccept(answer -> left.put(lease, Duration.ofSeconds(Math.max(0, answer.getTTL())))))
                .toArray(CompletableFuture<?>[]::new);
        return CompletableFuture.allOf(some)
                .exceptionally(unknown -> null) // who holds is known; how long is left is not worth an error
                .thenCompose(done -> timesLeft(leases, to, left));
    }

    /** How many at the head of a queue hold the lock: one exclusive claim, or all shared ones before the first exclusive. */
    private static int holders(List<Entry> queue) {
        int shared = 0;
        while (shared < queue.size() && queue.get(shared).shared()) {
            shared++;
        }
        return shared == 0 && !queue.isEmpty() ? 1 : shared;
    }
}
