package dev.lockstep.zookeeper;

import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongPredicate;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/** Operators' requests about locks, in one session. Reads see everything that was confirmed to any client before. */
final class Operators {
    /** How many nodes of one lock are read side by side. */
    private static final int NODES_AT_ONCE = 10;

    private final Session session;
    private final Keys keys;
    private final @Nullable String lockName;

    /** For questions about one lock, which errors then name, or about many. */
    Operators(Session session, Keys keys, @Nullable String lockName) {
        this.session = session;
        this.keys = keys;
        this.lockName = lockName;
    }

    CompletableFuture<LockInfo> inspect(String name) {
        return sync().thenCompose(synced -> look(name)).thenApply(seen -> info(name, seen));
    }

    /** The nodes of all locks whose names begin so, ordered. ZooKeeper lists all children of a node, or none. */
    CompletableFuture<List<String>> nodes(String prefix) {
        return sync().thenCompose(synced -> children(keys.namespacePath())).thenApply(nodes -> {
            List<String> wanted = new ArrayList<>();
            for (String node : nodes == null ? List.<String>of() : nodes) {
                String name = Keys.decode(node);
                if (name != null && name.startsWith(prefix)) {
                    wanted.add(node);
                }
            }
            Collections.sort(wanted);
            return wanted;
        });
    }

    /** The locks of a list that are held or waited for. */
    CompletableFuture<List<LockInfo>> inUse(List<String> nodes) {
        List<String> paths =
                nodes.stream().map(node -> keys.namespacePath() + "/" + node).toList();
        return new ManyLooks(session).look(paths).thenApply(all -> {
            List<LockInfo> used = new ArrayList<>();
            for (int i = 0; i < nodes.size(); i++) {
                if (!all.get(i).isEmpty()) {
                    used.add(info(String.valueOf(Keys.decode(nodes.get(i))), all.get(i)));
                }
            }
            return used;
        });
    }

    /** All namespaces; a container without locks stays for a while until the server removes it. */
    CompletableFuture<List<String>> namespaces() {
        return sync().thenCompose(synced -> children(Keys.ROOT)).thenApply(nodes -> {
            List<String> found = new ArrayList<>();
            for (String node : nodes == null ? List.<String>of() : nodes) {
                String namespace = Keys.decode(node);
                if (namespace != null) {
                    found.add(namespace);
                }
            }
            return found;
        });
    }

    /**
     * Ends the grants of a lock whose nodes were made by some transactions. The path of a place in a queue is never
     * used again. The path of a plain lock is used again, and ZooKeeper compares no transaction ids: another client may
     * make the node again between the look and the delete.
     */
    CompletableFuture<Boolean> forceRelease(String name, LongPredicate which) {
        return sync().thenCompose(synced -> look(name)).thenCompose(seen -> {
            List<CompletableFuture<Boolean>> deleted = seen.subList(0, holders(seen)).stream()
                    .filter(node -> which.test(node.stat().getCzxid()))
                    .map(node -> delete(node.path()))
                    .toList();
            return CompletableFuture.allOf(deleted.toArray(CompletableFuture[]::new))
                    .thenApply(done -> deleted.stream().anyMatch(CompletableFuture::join));
        });
    }

    private static LockInfo info(String name, List<SeenNode> seen) {
        int holders = holders(seen);
        LockInfo info = LockInfo.of(
                name,
                seen.subList(0, holders).stream().map(node -> node.entry(true)).toList(),
                seen.subList(holders, seen.size()).stream()
                        .map(node -> node.entry(false))
                        .toList());
        OptionalInt limit =
                seen.isEmpty() ? OptionalInt.empty() : seen.get(0).kind().limit();
        return limit.isPresent() ? info.withLimit(limit.getAsInt()) : info;
    }

    /** How many of a queue hold: the first, and if it reads, all readers after it up to a writer. */
    private static int holders(List<SeenNode> seen) {
        int holders = 0;
        if (!seen.isEmpty() && seen.get(0).kind().isSemaphore()) {
            return holdersOfPermits(seen, seen.get(0).kind());
        }
        while (holders < seen.size()
                && seen.get(holders).mode() == LockMode.SHARED
                && !seen.get(holders).kind().isSemaphore()) {
            holders++;
        }
        return holders == 0 && !seen.isEmpty() ? 1 : holders;
    }

    /** How many have permits: all from the first, as long as there are enough. */
    private static int holdersOfPermits(List<SeenNode> seen, ClaimKind first) {
        long left = first.limit().orElse(0);
        int holders = 0;
        while (holders < seen.size() && seen.get(holders).kind().agreesWith(first)) {
            left -= seen.get(holders).kind().permits();
            if (left < 0) {
                break;
            }
            holders++;
        }
        return holders;
    }

    private CompletableFuture<List<SeenNode>> look(String name) {
        return lookAt(keys.lockPath(name));
    }

    private CompletableFuture<List<SeenNode>> lookAt(String path) {
        return children(path).thenCompose(nodes -> {
            if (nodes == null) {
                return CompletableFuture.completedFuture(List.of());
            }
            return nodes.isEmpty() ? lookAtPlain(path) : lookAtQueue(path, QueueNode.queue(nodes, Map.of()));
        });
    }

    private CompletableFuture<List<SeenNode>> lookAtPlain(String path) {
        return data(path, SeenNode.PLAIN)
                .thenApply(seen -> seen == null || !SeenNode.isPlainLock(seen.stat()) ? List.of() : List.of(seen));
    }

    private CompletableFuture<List<SeenNode>> lookAtQueue(String path, List<QueueNode> queue) {
        return InFlight.<QueueNode, @Nullable SeenNode>askAll(
                        queue, NODES_AT_ONCE, node -> data(path + "/" + node.name(), node.kind()))
                .thenApply(all -> {
                    List<SeenNode> seen = new ArrayList<>();
                    for (SeenNode node : all) {
                        if (node != null) {
                            seen.add(node);
                        }
                    }
                    seen.sort(Comparator.comparing(node -> node.stat().getCzxid())); // the order of arrival
                    return seen;
                });
    }

    // ---------------------------------------------------------------- requests as futures

    /** Lets later reads see everything that was confirmed before. */
    CompletableFuture<Boolean> sync() {
        CompletableFuture<Boolean> done = new CompletableFuture<>();
        sync(done);
        return done;
    }

    private void sync(CompletableFuture<Boolean> done) {
        session.link().sync(code -> {
            if (code == Code.OK) {
                done.complete(true);
            } else {
                failOrRetry(done, "ask", "/", code, () -> sync(done));
            }
        });
    }

    /** The names of a node's children; null if there is no such node. */
    private CompletableFuture<@Nullable List<String>> children(String path) {
        CompletableFuture<@Nullable List<String>> done = new CompletableFuture<>();
        children(path, done);
        return done;
    }

    private void children(String path, CompletableFuture<@Nullable List<String>> done) {
        session.link().children(path, false, (code, nodes) -> {
            if (code == Code.OK) {
                done.complete(nodes);
            } else if (code == Code.NONODE) {
                done.complete(null);
            } else {
                failOrRetry(done, "read", path, code, () -> children(path, done));
            }
        });
    }

    /** A node with its data; null if there is no such node. */
    private CompletableFuture<@Nullable SeenNode> data(String path, ClaimKind kind) {
        CompletableFuture<@Nullable SeenNode> done = new CompletableFuture<>();
        data(path, kind, done);
        return done;
    }

    private void data(String path, ClaimKind kind, CompletableFuture<@Nullable SeenNode> done) {
        session.link().data(path, false, (code, bytes, stat) -> {
            if (code == Code.OK) {
                done.complete(SeenNode.of(path, kind, bytes, stat));
            } else if (code == Code.NONODE) {
                done.complete(null);
            } else {
                failOrRetry(done, "read", path, code, () -> data(path, kind, done));
            }
        });
    }

    private CompletableFuture<Boolean> delete(String path) {
        CompletableFuture<Boolean> done = new CompletableFuture<>();
        delete(path, done);
        return done;
    }

    private void delete(String path, CompletableFuture<Boolean> done) {
        session.link().delete(path, code -> {
            if (code == Code.OK || code == Code.NONODE) {
                done.complete(code == Code.OK);
            } else {
                failOrRetry(done, "delete", path, code, () -> delete(path, done));
            }
        });
    }

    private void failOrRetry(CompletableFuture<?> done, String what, String path, Code code, Runnable again) {
        if (Failure.mayRetry(code)) {
            session.retry(code, again);
        } else {
            done.completeExceptionally(session.failure(lockName, what, path, code));
        }
    }
}
