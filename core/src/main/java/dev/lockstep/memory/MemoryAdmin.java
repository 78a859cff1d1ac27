package dev.lockstep.memory;

import dev.lockstep.LockInfo;
import dev.lockstep.LockPage;
import dev.lockstep.LossReason;
import dev.lockstep.spi.AdminBackend;
import java.util.List;
import java.util.concurrent.CompletionStage;

/** Requests of operators for one namespace, over the link of their client. Safe for use by many threads. */
final class MemoryAdmin implements AdminBackend {
    private final MemoryBackend backend;
    private final LockTable table;

    MemoryAdmin(MemoryBackend backend, LockTable table) {
        this.backend = backend;
        this.table = table;
    }

    @Override
    public CompletionStage<LockInfo> inspect(String name) {
        return backend.ask(name, "inspect", () -> table.inspect(name));
    }

    @Override
    public CompletionStage<List<LockInfo>> list(String prefix) {
        return backend.ask(null, "list", () -> table.list(prefix));
    }

    @Override
    public CompletionStage<LockPage> list(String prefix, String cursor, int limit) {
        return backend.ask(null, "list", () -> table.list(prefix, cursor, limit));
    }

    @Override
    public CompletionStage<Boolean> forceRelease(String name) {
        return backend.ask(name, "forceRelease", () -> table.end(name, holder -> true, LossReason.REVOKED));
    }

    @Override
    public CompletionStage<Boolean> forceRelease(String name, long token) {
        return backend.ask(
                name, "forceRelease", () -> table.end(name, holder -> holder.token() == token, LossReason.REVOKED));
    }
}
