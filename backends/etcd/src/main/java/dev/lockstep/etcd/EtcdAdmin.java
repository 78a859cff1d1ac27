package dev.lockstep.etcd;

import com.google.protobuf.ByteString;
import dev.lockstep.LockInfo;
import dev.lockstep.LockPage;
import dev.lockstep.spi.AdminBackend;
import java.util.List;
import java.util.concurrent.CompletionStage;

/** Operators' requests for one namespace. Safe for use by many threads. */
final class EtcdAdmin implements AdminBackend {
    private final EtcdBackend backend;
    private final Operators operators;

    EtcdAdmin(EtcdBackend backend, Operators operators) {
        this.backend = backend;
        this.operators = operators;
    }

    @Override
    public CompletionStage<LockInfo> inspect(String name) {
        return backend.answer(name, "to inspect it", operators.inspect(name));
    }

    @Override
    public CompletionStage<List<LockInfo>> list(String prefix) {
        return backend.answer(null, "Listing the locks that begin with '" + prefix + "'", operators.list(prefix));
    }

    @Override
    public CompletionStage<LockPage> list(String prefix, String cursor, int limit) {
        ByteString from = PageCursor.read(cursor);
        return backend.answer(
                null, "Listing the locks that begin with '" + prefix + "'", operators.list(prefix, from, limit));
    }

    @Override
    public CompletionStage<Boolean> forceRelease(String name) {
        return backend.answer(name, "to release it by force", operators.forceRelease(name, entry -> true));
    }

    @Override
    public CompletionStage<Boolean> forceRelease(String name, long token) {
        return backend.answer(
                name, "to release it by force", operators.forceRelease(name, entry -> entry.createRevision() == token));
    }
}
