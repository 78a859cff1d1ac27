package dev.lockstep.internal.engine;

import dev.lockstep.spi.LockBackend;
import java.util.concurrent.CompletableFuture;

/** A watch that begins when the engine is connected. Safe for use by many threads. */
final class LateWatch {
    private LateWatch() {}

    static LockBackend.Watch of(CompletableFuture<LockBackend> arrival, String name, Runnable changed) {
        CompletableFuture<Void> closed = new CompletableFuture<>();
        arrival.thenAccept(engine -> {
            if (!closed.isDone()) {
                LockBackend.Watch watch = engine.watch(name, changed);
                closed.thenRun(watch::close);
                changed.run(); // what happened before it was in place
            }
        });
        return () -> closed.complete(null);
    }
}
