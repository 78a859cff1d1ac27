package dev.lockstep.etcd;

import com.google.protobuf.ByteString;
import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
import dev.lockstep.etcd.Keys.Entry;
import dev.lockstep.etcd.proto.Etcd.RangeRequest;
import dev.lockstep.etcd.proto.Etcd.RangeResponse;
import dev.lockstep.etcd.proto.Etcd.TxnRequest;
import dev.lockstep.etcd.proto.Etcd.TxnResponse;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;

/** Answers operators' questions by reading queues, a page at a time and all pages as of one revision. */
final class Operators {
    private static final int PAGE = 1_000;

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
        return queue(name).thenApply(queue -> info(name, queue));
    }

    CompletableFuture<List<LockInfo>> list(String prefix) {
        return entries(keys.locksThatBeginWith(prefix)).thenApply(entries -> {
            Map<String, List<Entry>> queues = new LinkedHashMap<>();
            entries.forEach(entry -> queues.computeIfAbsent(entry.name(), name -> new ArrayList<>())
                    .add(entry));
            return queues.entrySet().stream()
                    .map(queue -> info(queue.getKey(), queue.getValue()))
                    .toList();
        });
    }

    CompletableFuture<Boolean> forceRelease(String name) {
        return queue(name).thenCompose(queue -> {
            CompletableFuture<Boolean> any = CompletableFuture.completedFuture(false);
            for (Entry entry : queue.subList(0, holders(queue))) {
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

    private static LockInfo info(String name, List<Entry> queue) {
        int holders = holders(queue);
        List<LockInfo.Entry> all = new ArrayList<>();
        for (int i = 0; i < queue.size(); i++) {
            Entry entry = queue.get(i);
            all.add(new LockInfo.Entry(
                    entry.shared() ? LockMode.SHARED : LockMode.EXCLUSIVE,
                    i < holders ? OptionalLong.of(entry.createRevision()) : OptionalLong.empty(),
                    Holders.read(entry.kv().getValue())));
        }
        return new LockInfo(name, all.subList(0, holders), all.subList(holders, all.size()));
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
