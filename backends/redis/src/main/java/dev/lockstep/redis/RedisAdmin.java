package dev.lockstep.redis;

import dev.lockstep.LockInfo;
import dev.lockstep.spi.AdminBackend;
import java.util.List;
import java.util.concurrent.CompletionStage;

/** What operators ask of one namespace. Safe for use by many threads. */
final class RedisAdmin implements AdminBackend {
    private final RedisBackend backend;
    private final String namespace;

    RedisAdmin(RedisBackend backend, String namespace) {
        this.backend = backend;
        this.namespace = namespace;
    }

    @Override
    public CompletionStage<LockInfo> inspect(String name) {
        LockKeys keys = new LockKeys(namespace, name);
        return backend.requests()
                .once(name, "inspect", deadline -> backend.dialect().inspect(keys, deadline));
    }

    @Override
    public CompletionStage<List<LockInfo>> list(String prefix) {
        return backend.requests()
                .once(
                        null,
                        "list",
                        deadline -> new KeyScan(backend.link(), backend.scheduler(), deadline)
                                .locks(backend.dialect(), namespace, prefix).stream()
                                        .filter(info -> !info.holders().isEmpty()
                                                || !info.waiters().isEmpty())
                                        .toList());
    }

    @Override
    public CompletionStage<Boolean> forceRelease(String name) {
        LockKeys keys = new LockKeys(namespace, name);
        return backend.requests()
                .once(name, "forceRelease", deadline -> backend.dialect().forceRelease(keys, deadline));
    }

    @Override
    public CompletionStage<Boolean> forceRelease(String name, long token) {
        LockKeys keys = new LockKeys(namespace, name);
        return backend.requests()
                .once(name, "forceRelease", deadline -> backend.dialect().forceRelease(keys, token, deadline));
    }
}
