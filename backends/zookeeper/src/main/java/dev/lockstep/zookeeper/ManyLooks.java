package dev.lockstep.zookeeper;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.ToIntFunction;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/** Looks at many locks in few requests, in one session. */
final class ManyLooks {
    /*
     * A request reads up to a hundred nodes (ZooKeeper 3.6 and newer). The nodes of the locks come first: they say how many
     * claims each has. The names of the claims are asked for in requests that are smaller the more claims there are,
     * because a reply above jute.maxbuffer (1 MB) would break the connection, and the session has locks to keep.
     */
    private static final int NODES_AT_ONCE = 100;

    private static final int NAMES_AT_ONCE = 4_000;
    private static final int REQUESTS_AT_ONCE = 4;

    private final Session session;

    ManyLooks(Session session) {
        this.session = session;
    }

    /** The content of a node. */
    private record Content(byte @Nullable [] data, Stat stat) {}

    /** A lock whose nodes are looked for. */
    private static final class Lock {
        private final String path;
        private int claims;
        private List<QueueNode> queue = List.of();
        private final List<SeenNode> seen = new ArrayList<>();

        Lock(String path) {
            this.path = path;
        }

        void found(@Nullable Content node) {
            if (node == null) {
                return;
            }
            claims = node.stat.getNumChildren();
            if (claims == 0 && SeenNode.isPlainLock(node.stat)) {
                seen.add(SeenNode.of(path, SeenNode.PLAIN, node.data, node.stat));
            }
        }
    }

    /** A claim in the queue of a lock. */
    private record Place(Lock lock, QueueNode node) {
        String path() {
            return lock.path + "/" + node.name();
        }

        void found(@Nullable Content content) {
            if (content != null) {
                lock.seen.add(SeenNode.of(path(), node.kind(), content.data, content.stat));
            }
        }
    }

    /** The nodes of each lock, in the order of their arrival. */
    CompletableFuture<List<List<SeenNode>>> look(List<String> paths) {
        List<Lock> locks = paths.stream().map(Lock::new).toList();
        return InFlight.askAll(parts(locks, lock -> 0), REQUESTS_AT_ONCE, this::lookAtLocks)
                .thenApply(
                        done -> locks.stream().filter(lock -> lock.claims > 0).toList())
                .thenCompose(queued ->
                        InFlight.askAll(parts(queued, lock -> lock.claims), REQUESTS_AT_ONCE, this::listQueues))
                .thenApply(done -> locks.stream()
                        .flatMap(lock -> lock.queue.stream().map(node -> new Place(lock, node)))
                        .toList())
                .thenCompose(places -> InFlight.askAll(parts(places, place -> 0), REQUESTS_AT_ONCE, this::lookAtPlaces))
                .thenApply(done -> locks.stream().map(ManyLooks::inOrder).toList());
    }

    private static List<SeenNode> inOrder(Lock lock) {
        lock.seen.sort(Comparator.comparing(node -> node.stat().getCzxid()));
        return lock.seen;
    }

    private CompletableFuture<Boolean> lookAtLocks(List<Lock> locks) {
        List<Op> reads = locks.stream().map(lock -> Op.getData(lock.path)).toList();
        return read(reads).thenApply(results -> {
            for (int i = 0; i < locks.size(); i++) {
                locks.get(i).found(content(reads.get(i), results.get(i)));
            }
            return true;
        });
    }

    private CompletableFuture<Boolean> listQueues(List<Lock> locks) {
        List<Op> reads = locks.stream().map(lock -> Op.getChildren(lock.path)).toList();
        return read(reads).thenApply(results -> {
            for (int i = 0; i < locks.size(); i++) {
                if (isThere(reads.get(i), results.get(i))) {
                    List<String> names = ((OpResult.GetChildrenResult) results.get(i)).getChildren();
                    locks.get(i).queue = QueueNode.queue(names, Map.of());
                }
            }
            return true;
        });
    }

    private CompletableFuture<Boolean> lookAtPlaces(List<Place> places) {
        List<Op> reads = places.stream().map(place -> Op.getData(place.path())).toList();
        return read(reads).thenApply(results -> {
            for (int i = 0; i < places.size(); i++) {
                places.get(i).found(content(reads.get(i), results.get(i)));
            }
            return true;
        });
    }

    private @Nullable Content content(Op read, OpResult result) {
        if (!isThere(read, result)) {
            return null;
        }
        OpResult.GetDataResult found = (OpResult.GetDataResult) result;
        return new Content(found.getData(), found.getStat());
    }

    /** Whether a node was there; throws if it could not be read. */
    private boolean isThere(Op read, OpResult result) {
        if (!(result instanceof OpResult.ErrorResult error)) {
            return true;
        }
        Code code = Code.get(error.getErr());
        if (code == Code.NONODE) {
            return false;
        }
        throw session.failure(null, "read", read.getPath(), code == null ? Code.SYSTEMERROR : code);
    }

    private CompletableFuture<List<OpResult>> read(List<Op> reads) {
        CompletableFuture<List<OpResult>> done = new CompletableFuture<>();
        read(reads, done);
        return done;
    }

    private void read(List<Op> reads, CompletableFuture<List<OpResult>> done) {
        session.link().readAll(reads, (code, results) -> {
            if (code == Code.OK) {
                done.complete(results);
            } else if (Failure.mayRetry(code)) {
                session.retry(code, () -> read(reads, done));
            } else {
                done.completeExceptionally(
                        session.failure(null, "read", reads.get(0).getPath(), code));
            }
        });
    }

    /** Splits a list into parts of one request each: so many items, and so many names of children, at most. */
    private static <T> List<List<T>> parts(List<T> items, ToIntFunction<T> names) {
        List<List<T>> parts = new ArrayList<>();
        int from = 0;
        long sum = 0;
        for (int i = 0; i < items.size(); i++) {
            sum += names.applyAsInt(items.get(i));
            if (i > from && (i - from == NODES_AT_ONCE || sum > NAMES_AT_ONCE)) {
                parts.add(items.subList(from, i));
                from = i;
                sum = names.applyAsInt(items.get(i));
            }
        }
        if (from < items.size()) {
            parts.add(items.subList(from, items.size()));
        }
        return parts;
    }
}
