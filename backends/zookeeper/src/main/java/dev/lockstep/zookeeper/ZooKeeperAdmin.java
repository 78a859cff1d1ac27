package dev.lockstep.zookeeper;

import dev.lockstep.LockInfo;
import dev.lockstep.LockPage;
import dev.lockstep.spi.AdminBackend;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Operators' requests for one namespace, in the current main session. Safe for use by many threads. */
final class ZooKeeperAdmin implements AdminBackend {
    private final ZooKeeperBackend backend;
    private final Keys keys;

    ZooKeeperAdmin(ZooKeeperBackend backend, Keys keys) {
        this.backend = backend;
        this.keys = keys;
    }

    private Operators operator(@Nullable String lockName) {
        return new Operators(backend.session(), keys, lockName);
    }

    @Override
    public CompletionStage<LockInfo> inspect(String name) {
        return backend.bounded(operator(name).inspect(name), name, "inspect");
    }

    @Override
    public CompletionStage<List<LockInfo>> list(String prefix) {
        Operators operator = operator(null);
        return backend.bounded(operator.nodes(prefix).thenCompose(operator::inUse), null, "list");
    }

    /** The cursor is the name of the last node on the page before. */
    @Override
    public CompletionStage<LockPage> list(String prefix, String cursor, int limit) {
        Operators operator = operator(null);
        CompletableFuture<LockPage> page =
                left(operator, prefix, cursor).thenCompose(left -> page(operator, prefix, left, limit));
        return backend.bounded(page, null, "list");
    }

    /** The nodes that come after a page. */
    private CompletableFuture<List<String>> left(Operators operator, String prefix, String cursor) {
        Optional<List<String>> listed = backend.listedNames().after(keys, prefix, cursor, now());
        return listed.isPresent()
                ? operator.sync().thenApply(synced -> listed.get())
                : operator.nodes(prefix)
                        .thenApply(nodes -> nodes.stream()
                                .filter(node -> node.compareTo(cursor) > 0)
                                .toList());
    }

    private CompletableFuture<LockPage> page(Operators operator, String prefix, List<String> left, int limit) {
        if (left.size() <= limit) {
            return operator.inUse(left).thenApply(LockPage::last);
        }
        String next = left.get(limit - 1);
        backend.listedNames().put(keys, prefix, next, left.subList(limit, left.size()), now());
        return operator.inUse(left.subList(0, limit)).thenApply(locks -> LockPage.of(locks, next));
    }

    private long now() {
        return backend.context().scheduler().nanoTime();
    }

    @Override
    public CompletionStage<Boolean> forceRelease(String name) {
        return backend.bounded(operator(name).forceRelease(name, any -> true), name, "force release");
    }

    @Override
    public CompletionStage<Boolean> forceRelease(String name, long token) {
        return backend.bounded(operator(name).forceRelease(name, made -> made == token), name, "force release");
    }
}
