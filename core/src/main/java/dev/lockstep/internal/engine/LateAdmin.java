package dev.lockstep.internal.engine;

import dev.lockstep.LockInfo;
import dev.lockstep.LockPage;
import dev.lockstep.spi.AdminBackend;
import java.util.List;
import java.util.concurrent.CompletionStage;

/** Requests of operators for a namespace, sent once the engine is connected. Safe for use by many threads. */
record LateAdmin(LateBackend backend, String namespace) implements AdminBackend {
    @Override
    public CompletionStage<LockInfo> inspect(String name) {
        return backend.ask(connected -> connected.admin(namespace).inspect(name));
    }

    @Override
    public CompletionStage<List<LockInfo>> list(String prefix) {
        return backend.ask(connected -> connected.admin(namespace).list(prefix));
    }

    @Override
    public CompletionStage<LockPage> list(String prefix, String cursor, int limit) {
        return backend.ask(connected -> connected.admin(namespace).list(prefix, cursor, limit));
    }

    @Override
    public CompletionStage<Boolean> forceRelease(String name) {
        return backend.ask(connected -> connected.admin(namespace).forceRelease(name));
    }

    @Override
    public CompletionStage<Boolean> forceRelease(String name, long token) {
        return backend.ask(connected -> connected.admin(namespace).forceRelease(name, token));
    }
}
