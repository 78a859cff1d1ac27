package dev.lockstep.zookeeper;

import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
import dev.lockstep.LockPage;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongPredicate;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/** What people ask about locks and do to them, in one session. Reads what was confirmed to anybody before. */
final class Operators {
    /** How many locks are looked at side by side, and how many nodes of each. */
    private static final int LOCKS_AT_ONCE = 100;

    private static final int NODES_AT_ONCE = 10;

    private static final ClaimKind PLAIN = ClaimKind.lock(LockMode.EXCLUSIVE, true);

    private final Session session;
    private final Keys keys;
    private final @Nullable String lockName;

    /** For questions about one lock, which errors then name, or about many. */
    Operators(Session session, Keys keys, @Nullable String lockName) {
        this.session = session;
        this.keys = keys;
        this.lockName = lockName;
    }

    /** A node of a lock: a place in its queue, or the plain lock itself. */
    private record Seen(String path, ClaimKind kind, LockMode mode, NodeData data, Stat stat) {
        LockInfo.Entry entry(boolean holds) {
            LockInfo.Entry entry = LockInfo.Entry.of(mode, data.holder()).withPermits(kind.permits());
            entry = data.claimId().map(entry::withClaim).orElse(entry);
            if (!holds) {
                return entry;
            }
            entry = data.waitsFor().map(entry::withWait).orElse(entry);
            return entry.withToken(stat.getCzxid());
        }
    }

    static Instant created(Stat stat) {
        return Instant.ofEpochMilli(stat.getCtime());
    }

    CompletableFuture<LockInfo> inspect(String name) {
        return sync().thenCompose(synced -> look(name)).thenApply(seen -> info(name, seen));
    }

    CompletableFuture<List<LockInfo>> list(String prefix) {
        return nodes(prefix).thenCompose(this::inUse);
    }

    /** The cursor is the name of the last node on the page before. */
    CompletableFuture<LockPage> list(String prefix, String cursor, int limit) {
        return nodes(prefix).thenCompose(nodes -> {
            List<String> left =
                    nodes.stream().filter(node -> node.compareTo(cursor) > 0).toList();
            if (left.size() <= limit) {
                return inUse(left).thenApply(LockPage::last);
            }
            return inUse(left.subList(0, limit)).thenApply(locks -> LockPage.of(locks, left.get(limit - 1)));
        });
    }

    /** The nodes of all locks whose names begin so, ordered. ZooKeeper lists all children of a node, or none. */
    private CompletableFuture<List<String>> nodes(String prefix) {
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

    /** Those of some locks that anybody holds or waits for. */
    private CompletableFuture<List<LockInfo>> inUse(List<String> nodes) {
        return InFlight.askAll(nodes, LOCKS_AT_ONCE, node -> {
                    String path = keys.namespacePath() + "/" + node;
                    String name = String.valueOf(Keys.decode(node));
                    return lookAt(path).thenApply(seen -> info(name, seen));
                })
                .thenApply(all -> all.stream()
                        .filter(info -> !info.isFree() || !info.waiters().isEmpty())
                        .toList());
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
        LockInfo info = LockInfo.of(
                name,
                seen.subList(0, holders).stream().map(node -> node.entry(true)).toList(),
                seen.subList(holders, seen.size()).stream()
                        .map(node -> node.entry(false))
                        .toList());
        OptionalInt limit =
                seen.isEmpty() ? OptionalInt.empty() : seen.get(0).kind.limit();
        return limit.isPresent() ? info.withLimit(limit.getAsInt()) : info;
    }

    /** How many of a queue hold: the first, and if it reads, all readers after it up to a writer. */
    private static int holders(List<Seen> seen) {
        int holders = 0;
        if (!seen.isEmpty() && seen.get(0).kind.isSemaphore()) {
            return holdersOfPermits(seen, seen.get(0).kind);
        }
        while (holders < seen.size()
                && seen.get(holders).mode == LockMode.SHARED
                && !seen.get(holders).kind.isSemaphore()) {
            holders++;
        }
        return holders == 0 && !seen.isEmpty() ? 1 : holders;
    }

    /** How many have permits: all from the first, as long as there are enough. */
    private static int holdersOfPermits(List<Seen> seen, ClaimKind first) {
        long left = first.limit().orElse(0);
        int holders = 0;
        while (holders < seen.size() && seen.get(holders).kind.agreesWith(first)) {
            left -= seen.get(holders).kind.permits();
            if (left < 0) {
                break;
            }
            holders++;
        }
        return holders;
    }

    private CompletableFuture<List<Seen>> look(String name) {
        return lookAt(keys.lockPath(name));
    }

    private CompletableFuture<List<Seen>> lookAt(String path) {
        return children(path).thenCompose(nodes -> {
            if (nodes == null) {
                return CompletableFuture.completedFuture(List.of());
            }
            return nodes.isEmpty() ? lookAtPlain(path) : lookAtQueue(path, QueueNode.queue(nodes, Map.of()));
        });
    }

    private CompletableFuture<List<Seen>> lookAtPlain(String path) {
        return data(path, PLAIN)
                .thenApply(seen -> seen == null || seen.stat.getEphemeralOwner() == 0 ? List.of() : List.of(seen));
    }

    private CompletableFuture<List<Seen>> lookAtQueue(String path, List<QueueNode> queue) {
        return InFlight.<QueueNode, @Nullable Seen>askAll(
                        queue, NODES_AT_ONCE, node -> data(path + "/" + node.name(), node.kind()))
                .thenApply(all -> {
                    List<Seen> seen = new ArrayList<>();
                    for (Seen node : all) {
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
    private CompletableFuture<@Nullable Seen> data(String path, ClaimKind kind) {
        CompletableFuture<@Nullable Seen> done = new CompletableFuture<>();
        data(path, kind, done);
        return done;
    }

    private void data(String path, ClaimKind kind, CompletableFuture<@Nullable Seen> done) {
        session.link().data(path, false, (code, bytes, stat) -> {
            if (code == Code.OK) {
                NodeData data = NodeData.parse(bytes, created(stat));
                boolean shared = !kind.isWriter() || NodeData.isShared(bytes);
                done.complete(new Seen(path, kind, shared ? LockMode.SHARED : LockMode.EXCLUSIVE, data, stat));
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
