package dev.lockstep.etcd;

import com.google.protobuf.ByteString;
import dev.lockstep.HolderInfo;
import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
import dev.lockstep.LockPage;
import dev.lockstep.etcd.Keys.Entry;
import dev.lockstep.etcd.proto.Etcd.KeyValue;
import dev.lockstep.etcd.proto.Etcd.LeaseTimeToLiveRequest;
import dev.lockstep.etcd.proto.Etcd.RangeRequest;
import dev.lockstep.etcd.proto.Etcd.RangeResponse;
import dev.lockstep.etcd.proto.Etcd.TxnRequest;
import dev.lockstep.etcd.proto.Etcd.TxnResponse;
import dev.lockstep.spi.HolderText;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Answers operators' questions by reading queues, a page at a time and all pages as of one revision. */
final class Operators {
    private static final int PAGE = 1_000;
    private static final int LEASES_AT_ONCE = 100;

    private final Link link;
    private final Keys keys;

    Operators(Link link, Keys keys) {
        this.link = link;
        this.keys = keys;
    }

    /** Asks the leader, and through it a majority. */
    CompletableFuture<Void> ping() {
        return link.call(
                        Rpc.RANGE,
                        Txns.look(Keys.bytes(keys.root())).setCountOnly(true).build())
                .thenApply(answer -> null);
    }

    CompletableFuture<LockInfo> inspect(String name) {
        ByteString queue = Keys.bytes(keys.queue(name));
        return found(queue, Keys.endOf(queue))
                .thenCompose(this::describe)
                .thenApply(infos -> infos.isEmpty() ? LockInfo.free(name) : infos.get(0));
    }

    CompletableFuture<List<LockInfo>> list(String prefix) {
        ByteString locks = keys.locksThatBeginWith(prefix);
        return found(locks, Keys.endOf(locks)).thenCompose(this::describe);
    }

    /** One page: a read of so many claims, with the rest of a queue that is longer than that. */
    CompletableFuture<LockPage> list(String prefix, ByteString from, int limit) {
        ByteString locks = keys.locksThatBeginWith(prefix);
        ByteString begin = from.isEmpty() ? locks : keys.locks().concat(from);
        ByteString end = Keys.endOf(locks);
        return read(begin, end, Math.min(limit, PAGE) + 1, 0).thenCompose(page -> {
            if (!page.more) {
                return describe(page).thenApply(LockPage::last);
            }
            // The last queue of the page may be incomplete: it is left to the next page, unless it is the only one.
            ByteString last = keys.queueOf(page.lastKey());
            if (last.equals(keys.queueOf(page.kvs.get(0).getKey()))) {
                ByteString next = Keys.endOf(last);
                return found(begin, next).thenCompose(this::describe).thenApply(infos -> page(infos, next));
            }
            return describe(page.before(last)).thenApply(infos -> page(infos, last));
        });
    }

    private LockPage page(List<LockInfo> infos, ByteString next) {
        return LockPage.of(infos, PageCursor.write(next.substring(keys.locks().size())));
    }

    /** Ends the selected grants of a lock; none that came after the queue was read. */
    CompletableFuture<Boolean> forceRelease(String name, Predicate<Entry> which) {
        ByteString prefix = Keys.bytes(keys.queue(name));
        return found(prefix, Keys.endOf(prefix)).thenCompose(found -> {
            List<Entry> queue = entries(found);
            CompletableFuture<Boolean> any = CompletableFuture.completedFuture(false);
            List<Entry> ended =
                    queue.subList(0, holders(queue)).stream().filter(which).toList();
            for (Entry entry : ended) {
                // Its client may use the key again for its next claim.
                TxnRequest end = TxnRequest.newBuilder()
                        .addCompare(Txns.createdAt(entry.kv().getKey(), entry.createRevision()))
                        .addSuccess(Txns.delete(entry.kv().getKey()))
                        .addSuccess(Txns.delete(keys.wait(entry.kv().getKey())))
                        .build();
                any = any.thenCombine(link.call(Rpc.TXN, end).thenApply(TxnResponse::getSucceeded), Boolean::logicalOr);
            }
            return any;
        });
    }

    /** All namespaces that have a key: skips from the first key of one to that of the next. */
    static CompletableFuture<List<String>> namespaces(Link link) {
        return namespaces(link, Keys.bytes(Keys.ALL), new ArrayList<>());
    }

    private static CompletableFuture<List<String>> namespaces(Link link, ByteString from, List<String> found) {
        RangeRequest next = Txns.look(from)
                .setRangeEnd(Keys.endOf(Keys.bytes(Keys.ALL)))
                .setLimit(1)
                .build();
        return link.call(Rpc.RANGE, next).thenCompose(answer -> {
            if (answer.getKvsCount() == 0) {
                return CompletableFuture.completedFuture(found);
            }
            ByteString key = answer.getKvs(0).getKey();
            Optional<String> namespace = Keys.namespaceOf(key);
            namespace.ifPresent(found::add);
            return namespaces(
                    link,
                    namespace.map(Keys::after).orElseGet(() -> key.concat(ByteString.copyFrom(new byte[1]))),
                    found);
        });
    }

    // ---------------------------------------------------------------- reading

    /**
     * Claims, and the locks that their holders wait for.
     *
     * @param kvs the keys of claims, and whatever else is there, in their order
     * @param waits the locks that holders wait for, by the key that stores that
     * @param more whether there are more of them behind
     * @param revision of the store, when this was so
     */
    private record Found(List<KeyValue> kvs, Map<ByteString, ByteString> waits, boolean more, long revision) {
        ByteString lastKey() {
            return kvs.get(kvs.size() - 1).getKey();
        }

        /** Without the last queue. */
        Found before(ByteString queue) {
            return new Found(
                    kvs.stream().filter(kv -> !kv.getKey().startsWith(queue)).toList(), waits, true, revision);
        }

        Found and(Found next) {
            List<KeyValue> all = new ArrayList<>(kvs);
            all.addAll(next.kvs);
            Map<ByteString, ByteString> allWaits = new HashMap<>(waits);
            allWaits.putAll(next.waits);
            return new Found(all, allWaits, next.more, revision);
        }
    }

    /** All claims between two keys, as of one revision. */
    private CompletableFuture<Found> found(ByteString from, ByteString end) {
        return read(from, end, PAGE, 0).thenCompose(first -> rest(first, end));
    }

    private CompletableFuture<Found> rest(Found known, ByteString end) {
        if (!known.more) {
            return CompletableFuture.completedFuture(known);
        }
        ByteString next = known.lastKey().concat(ByteString.copyFrom(new byte[1]));
        return read(next, end, PAGE, known.revision).thenCompose(page -> rest(known.and(page), end));
    }

    /** One request for both: there are fewer waits than claims, and they have the same order. */
    private CompletableFuture<Found> read(ByteString from, ByteString end, int limit, long revision) {
        RangeRequest.Builder claims = RangeRequest.newBuilder()
                .setKey(from)
                .setRangeEnd(end)
                .setLimit(limit)
                .setRevision(revision);
        RangeRequest.Builder waits = claims.clone().setKey(keys.wait(from)).setRangeEnd(keys.wait(end));
        TxnRequest both = TxnRequest.newBuilder()
                .addSuccess(Txns.op(claims))
                .addSuccess(Txns.op(waits))
                .build();
        return link.call(Rpc.TXN, both).thenApply(answer -> {
            RangeResponse found = answer.getResponses(0).getResponseRange();
            Map<ByteString, ByteString> values = new HashMap<>();
            Txns.found(answer, 1).forEach(kv -> values.put(kv.getKey(), kv.getValue()));
            long at = revision == 0 ? answer.getHeader().getRevision() : revision;
            return new Found(found.getKvsList(), values, found.getMore(), at);
        });
    }

    private List<Entry> entries(Found found) {
        return found.kvs.stream()
                .flatMap(kv -> keys.parse(kv).stream())
                .sorted(Comparator.comparingLong(Entry::createRevision))
                .toList();
    }

    private CompletableFuture<List<LockInfo>> describe(Found found) {
        Map<String, List<Entry>> queues = new LinkedHashMap<>();
        entries(found)
                .forEach(entry -> queues.computeIfAbsent(entry.name(), name -> new ArrayList<>())
                        .add(entry));
        return timesLeft(queues.values())
                .thenApply(left -> queues.entrySet().stream()
                        .map(queue -> info(queue.getKey(), queue.getValue(), found.waits, left))
                        .toList());
    }

    private LockInfo info(
            String name, List<Entry> queue, Map<ByteString, ByteString> waits, Map<Long, Duration> timesLeft) {
        int holders = holders(queue);
        LockInfo info = LockInfo.of(
                name,
                queue.subList(0, holders).stream()
                        .map(entry ->
                                holder(entry, waits.get(keys.wait(entry.kv().getKey())), timesLeft))
                        .toList(),
                queue.subList(holders, queue.size()).stream()
                        .map(Operators::waiter)
                        .toList());
        int limit = queue.get(0).limit();
        return limit == 0 ? info : info.withLimit(limit);
    }

    private static LockInfo.Entry waiter(Entry entry) {
        Map<String, String> facts = HolderText.read(entry.kv().getValue().toStringUtf8());
        LockInfo.Entry waiter = LockInfo.Entry.of(entry.shared() ? LockMode.SHARED : LockMode.EXCLUSIVE, holder(facts))
                .withPermits(entry.permits());
        String claim = facts.get("claim");
        return claim == null ? waiter : waiter.withClaim(claim);
    }

    private static LockInfo.Entry holder(Entry entry, @Nullable ByteString wait, Map<Long, Duration> timesLeft) {
        LockInfo.Entry holder = waiter(entry).withToken(entry.createRevision());
        Duration left = timesLeft.get(entry.kv().getLease());
        if (left != null) {
            holder = holder.withRemaining(left);
        }
        if (wait != null) {
            Map<String, String> facts = HolderText.read(wait.toStringUtf8());
            // A record of an earlier claim under the same key may be left.
            if (Optional.ofNullable(facts.get("claim")).equals(holder.claim())) {
                holder = HolderText.waitOf(facts).map(holder::withWait).orElse(holder);
            }
        }
        return holder;
    }

    /** The remaining time of the holders' leases: one request for each lease, which has many locks. */
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
                .map(lease -> link.call(
                                Rpc.LEASE_TIME_TO_LIVE,
                                LeaseTimeToLiveRequest.newBuilder().setID(lease).build())
                        .thenAccept(answer -> left.put(lease, Duration.ofSeconds(Math.max(0, answer.getTTL())))))
                .toArray(CompletableFuture<?>[]::new);
        return CompletableFuture.allOf(some)
                .exceptionally(unknown -> null) // the holder is known; a missing remaining time is not an error
                .thenCompose(done -> timesLeft(leases, to, left));
    }

    /**
     * The number of holders at the head of a queue: one exclusive claim, or all shared ones before the first exclusive;
     * of a semaphore, as many as there are permits for.
     */
    private static int holders(List<Entry> queue) {
        int count = 0;
        long permits = 0;
        for (Entry entry : queue) {
            permits += entry.permits();
            boolean holds = entry.limit() == 0 ? entry.shared() : permits <= entry.limit();
            if (!holds) {
                break;
            }
            count++;
        }
        return count == 0 && !queue.isEmpty() ? 1 : count;
    }

    /** The owner of a claim, as the value of its key says. */
    static HolderInfo holder(ByteString value) {
        return holder(HolderText.read(value.toStringUtf8()));
    }

    private static HolderInfo holder(Map<String, String> facts) {
        return HolderText.holder(facts, "?", Instant.EPOCH);
    }
}
