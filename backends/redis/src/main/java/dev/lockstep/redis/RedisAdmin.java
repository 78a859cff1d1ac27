package dev.lockstep.redis;

import dev.lockstep.LockInfo;
import dev.lockstep.LockPage;
import dev.lockstep.redis.internal.KeyScan;
import dev.lockstep.redis.internal.Keys;
import dev.lockstep.redis.internal.PageCursor;
import dev.lockstep.spi.AdminBackend;
import java.util.List;
import java.util.concurrent.CompletionStage;

/** Operators' requests for one namespace. Safe for use by many threads. */
final class RedisAdmin implements AdminBackend {
    private final RedisBackend backend;
    private final String namespace;

    RedisAdmin(RedisBackend backend, String namespace) {
        this.backend = backend;
        this.namespace = namespace;
    }

    @Override
    public CompletionStage<LockInfo> inspect(String name) {
        Keys keys = new Keys(namespace, name);
        return backend.requests()
                .once(name, "inspect", deadline -> backend.dialect().operators().inspect(keys, deadline));
    }

    @Override
    public CompletionStage<List<LockInfo>> list(String prefix) {
        return backend.requests()
                .once(
                        null,
                        "list",
                        deadline -> new KeyScan(backend.link(), backend.scheduler(), deadline)
                                .locks(backend.dialect().operators(), namespace, prefix))
                .thenApply(RedisAdmin::inUse);
    }

    @Override
    public CompletionStage<LockPage> list(String prefix, String cursor, int limit) {
        PageCursor from = PageCursor.parse(cursor);
        return backend.requests()
                .once(
                        null,
                        "list",
                        deadline -> new KeyScan(backend.link(), backend.scheduler(), deadline)
                                .page(backend.dialect().operators(), namespace, prefix, from, limit))
                .thenApply(page -> page.map(RedisAdmin::inUse)
                        .orElseThrow(() -> new IllegalArgumentException("The servers are not those of the cursor '"
                                + cursor + "' any more, after a failover perhaps. Begin again with an empty one.")));
    }

    private static LockPage inUse(LockPage page) {
        List<LockInfo> used = inUse(page.locks());
        return page.next().map(next -> LockPage.of(used, next)).orElseGet(() -> LockPage.last(used));
    }

    private static List<LockInfo> inUse(List<LockInfo> infos) {
        return infos.stream()
                .filter(info -> !info.holders().isEmpty() || !info.waiters().isEmpty())
                .toList();
    }

    @Override
    public CompletionStage<Boolean> forceRelease(String name) {
        Keys keys = new Keys(namespace, name);
        return backend.requests()
                .once(
                        name,
                        "forceRelease",
                        deadline -> backend.dialect().operators().forceRelease(keys, deadline));
    }

    @Override
    public CompletionStage<Boolean> forceRelease(String name, long token) {
        Keys keys = new Keys(namespace, name);
        return backend.requests()
                .once(
                        name,
                        "forceRelease",
                        deadline -> backend.dialect().operators().forceRelease(keys, token, deadline));
    }
}
