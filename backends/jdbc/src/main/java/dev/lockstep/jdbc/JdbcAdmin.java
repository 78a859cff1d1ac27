package dev.lockstep.jdbc;

import dev.lockstep.LockInfo;
import dev.lockstep.LockPage;
import dev.lockstep.spi.AdminBackend;
import java.util.List;
import java.util.concurrent.CompletionStage;

/** Operators' requests for one namespace. Safe for use by many threads. */
final class JdbcAdmin implements AdminBackend {
    private final Requests requests;
    private final Store store;
    private final Keys keys;

    JdbcAdmin(Requests requests, Store store, Keys keys) {
        this.requests = requests;
        this.store = store;
        this.keys = keys;
    }

    @Override
    public CompletionStage<LockInfo> inspect(String name) {
        return requests.ask(name, "inspect", link -> {
            List<LockInfo> found = store.list(link, keys, keys.only(name));
            return found.isEmpty() ? LockInfo.free(name) : found.get(0);
        });
    }

    @Override
    public CompletionStage<List<LockInfo>> list(String prefix) {
        return requests.ask(null, "list", link -> store.list(link, keys, keys.withPrefix(prefix)));
    }

    @Override
    public CompletionStage<LockPage> list(String prefix, String cursor, int limit) {
        Keys.Range range = cursor.isEmpty() ? keys.withPrefix(prefix) : keys.withPrefixAfter(prefix, cursor);
        return requests.ask(null, "list", link -> store.list(link, keys, range, limit));
    }

    @Override
    public CompletionStage<Boolean> forceRelease(String name) {
        return requests.ask(name, "forceRelease", link -> store.queue().revoke(link, keys.key(name), holder -> true));
    }

    @Override
    public CompletionStage<Boolean> forceRelease(String name, long token) {
        return requests.ask(
                name,
                "forceRelease",
                link -> store.queue().revoke(link, keys.key(name), holder -> holder.token() == token));
    }
}
