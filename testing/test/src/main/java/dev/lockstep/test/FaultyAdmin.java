package dev.lockstep.test;

import dev.lockstep.LockInfo;
import dev.lockstep.LockPage;
import dev.lockstep.spi.AdminBackend;
import java.util.List;
import java.util.concurrent.CompletionStage;

/** The questions of operators, over a wire that a test can cut. Safe for use by many threads. */
final class FaultyAdmin implements AdminBackend {
    private final AdminBackend real;
    private final Wire wire;

    FaultyAdmin(AdminBackend real, Wire wire) {
        this.real = real;
        this.wire = wire;
    }

    @Override
    public CompletionStage<LockInfo> inspect(String name) {
        return wire.ask(name, () -> real.inspect(name));
    }

    @Override
    public CompletionStage<List<LockInfo>> list(String prefix) {
        return wire.ask(null, () -> real.list(prefix));
    }

    @Override
    public CompletionStage<LockPage> list(String prefix, String cursor, int limit) {
        return wire.ask(null, () -> real.list(prefix, cursor, limit));
    }

    @Override
    public CompletionStage<Boolean> forceRelease(String name) {
        return wire.ask(name, () -> real.forceRelease(name));
    }

    @Override
    public CompletionStage<Boolean> forceRelease(String name, long token) {
        return wire.ask(name, () -> real.forceRelease(name, token));
    }
}
