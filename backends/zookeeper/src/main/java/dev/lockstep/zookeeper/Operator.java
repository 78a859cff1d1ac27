package dev.lockstep.zookeeper;

import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongPredicate;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/** What people ask about locks and do to them, in one session. Reads what was confirmed to anybody before. */
final class Operator {
    /** How many locks are looked at side by side. */
    private static final int AT_ONCE = 200;

    private final Session session;
    private final Names names;
    private final @Nullable String lockName;

    /** For questions about one lock, which errors then name, or about many. */
    Operator(Session session, Names names, @Nullable String lockName) {
        this.session = session;
        this.names = names;
        this.lockName = lockName;
    }

    /** A node of a lock: a place in its queue, or the plain lock itself. */
    private record Seen(String path, LockMode mode, NodeData data, Stat stat) {
        LockInfo.Entry entry(boolean holds) {
            LockInfo.Entry entry = LockInfo.Entry.of(mode, data.holder());
            return holds ? entry.withToken(stat.getCzxid()) : entry;
        }
    }

    static Instant created(Stat stat) {
        return Instant.ofEpochMilli(stat.getCtime());
    }

    CompletableFuture<LockInfo> inspect(String name) {
        return sync().thenCompose(synced -> look(name)).thenApply(seen -> info(name, seen));
    }

    CompletableFuture<List<LockInfo>> list(String prefix) {
        return sync().thenCompose(synced -> children(names.namespacePath())).thenCompose(nodes -> {
            List<String> wanted = new ArrayList<>();
            for (String node : nodes == null ? List.<String>of() : nodes) {
                String name = Names.decode(node);
                if (name != null && name.startsWith(prefix)) {
                    wanted.add(name);
                }
            }
            return listFrom(wanted, 0, new ArrayList<>());
        });
    }

    /** All namespaces; a container without locks stays for a while until the server removes it. */
    CompletableFuture<List<String>> namespaces() {
        return sync().thenCompose(synced -> children(Names.ROOT)).thenApply(nodes -> {
            List<String> found = new ArrayList<>();
            for (String node : nodes == null ? List.<String>of() : nodes) {
                String namespace = Names.decode(node);
                if (namespace != null) {
                    found.add(namespace);
                }
            }
            return found;
        });
    }

    private CompletableFuture<List<LockInfo>> listFrom(List<String> wanted, int from, List<LockInfo> found) {
        if (from >= wanted.size()) {
            return CompletableFuture.completedFuture(found);
        }
        int to = Math.min(from + AT_ONCE, wanted.size());
        List<CompletableFuture<LockInfo>> some = wanted.subList(from, to).stream()
                .map(name -> look(name).thenApply(seen -> info(name, seen)))
                .toList();
        return CompletableFuture.allOf(some.toArray(CompletableFuture[]::new)).thenCompose(done -> {
            for (CompletableFuture<LockInfo> each : some) {
                LockInfo info = each.join();
                if (!info.holders().isEmpty() || !info.waiters().isEmpty()) {
                    found.add(info);
                }
            }
            return listFrom(wanted, to, found);
        });
    }

    /**
     * Ends the grants of a lock whose nodes were made by some transactions. A place in a queue has a path that nobody else
     * ever has. The node of a plain lock has not, and ZooKeeper compares no transaction ids: another client may make it anew
     * between the look and the delete.
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

    private static LockInfo info(String name, List<Seen> seen) {
        int holders = holders(seen);
        return LockInfo.of(
                name,
                seen.subList(0, holders).stream().map(node -> node.entry(true)).toList(),
                seen.subList(holders, seen.size()).stream()
                        .map(node -> node.entry(false))
                        .toList());
    }

    /** How many of a queue hold: the first, and if it reads, all readers after it up to a writer. */
    private static int holders(List<Seen> seen) {
        int holders = 0;
        while (holders < seen.size() && seen.get(holders).mode == LockMode.SHARED) {
            holders++;
        }
        return holders == 0 && !seen.isEmpty() ? 1 : holders;
    }

    private CompletableFuture<List<Seen>> look(String name) {
        String path = names.lockPath(name);
        return children(path).thenCompose(nodes -> {
            if (nodes == null) {
                return CompletableFuture.completedFuture(List.of());
            }
            return nodes.isEmpty() ? lookAtPlain(path) : lookAtQueue(path, QueueNode.queue(nodes, Map.of()));
        });
    }

    private CompletableFuture<List<Seen>> lookAtPlain(String path) {
        return data(path, LockMode.EXCLUSIVE)
                .thenApply(seen -> seen == null || seen.stat.getEphemeralOwner() == 0 ? List.of() : List.of(seen));
    }

    private CompletableFuture<List<Seen>> lookAtQueue(String path, List<QueueNode> queue) {
        List<CompletableFuture<@Nullable Seen>> all = queue.stream()
                .map(node -> data(path + "/" + node.name(), node.mode()))
                .toList();
        return CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).thenApply(done -> {
            List<Seen> seen = new ArrayList<>();
            for (CompletableFuture<@Nullable Seen> each : all) {
                Seen node = each.join();
                if (node != null) {
                    seen.add(node);
                }
            }
            seen.sort(Comparator.comparing(node -> node.stat().getCzxid())); // the order of arrival
            return seen;
        });
    }

    // ---------------------------------------------------------------- requests as futures

    private CompletableFuture<Boolean> sync() {
        CompletableFuture<Boolean> done = new CompletableFuture<>();
        sync(done);
        return done;
    }

    private void sync(CompletableFuture<Boolean> done) {
        session.requests().sync(code -> {
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
        session.requests().children(path, false, (code, nodes) -> {
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
    private CompletableFuture<@Nullable Seen> data(String path, LockMode mode) {
        CompletableFuture<@Nullable Seen> done = new CompletableFuture<>();
        data(path, mode, done);
        return done;
    }

    private void data(String path, LockMode mode, CompletableFuture<@Nullable Seen> done) {
        session.requests().data(path, false, (code, bytes, stat) -> {
            if (code == Code.OK) {
                NodeData data = NodeData.parse(bytes, created(stat));
                boolean shared = mode == LockMode.SHARED || NodeData.isShared(bytes);
                done.complete(new Seen(path, shared ? LockMode.SHARED : LockMode.EXCLUSIVE, data, stat));
            } else if (code == Code.NONODE) {
                done.complete(null);
            } else {
                failOrRetry(done, "read", path, code, () -> data(path, mode, done));
            }
        });
    }

    private CompletableFuture<Boolean> delete(String path) {
        CompletableFuture<Boolean> done = new CompletableFuture<>();
        delete(path, done);
        return done;
    }

    private void delete(String path, CompletableFuture<Boolean> done) {
        session.requests().delete(path, code -> {
            if (code == Code.OK || code == Code.NONODE) {
                done.complete(code == Code.OK);
            } else {
                failOrRetry(done, "delete", path, code, () -> delete(path, done));
            }
        });
    }

    private void failOrRetry(CompletableFuture<?> done, String what, String path, Code code, Runnable again) {
        if (Replies.mayRetry(code)) {
            session.retry(code, again);
        } else {
            done.completeExceptionally(session.failure(lockName, what, path, code));
        }
    }
}
