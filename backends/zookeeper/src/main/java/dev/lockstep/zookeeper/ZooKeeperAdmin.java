package dev.lockstep.zookeeper;

import dev.lockstep.LockInfo;
import dev.lockstep.LockPage;
import dev.lockstep.spi.AdminBackend;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** What operators ask of one namespace, in the main session of the time. Safe for use by many threads. */
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
        return backend.bounded(operator(null).list(prefix), null, "list");
    }

    @Override
    public CompletionStage<LockPage> list(String prefix, String cursor, int limit) {
        return backend.bounded(operator(null).list(prefix, cursor, limit), null, "list");
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
