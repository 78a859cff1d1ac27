package dev.lockstep.spring.boot;

import dev.lockstep.memory.MemoryEngine;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.BackendFactory;
import dev.lockstep.spi.BackendProvider;
import dev.lockstep.spi.LockBackend;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;

/** The memory engine at {@code recorded:}, which keeps what its last client passed to it. */
public final class RecordedProvider implements BackendProvider {
    private static final AtomicReference<BackendContext> last = new AtomicReference<>();

    static BackendContext last() {
        return Objects.requireNonNull(last.get());
    }

    @Override
    public Set<String> schemes() {
        return Set.of("recorded");
    }

    @Override
    public BackendFactory parse(String url) {
        return new BackendFactory() {
            @Override
            public LockBackend open(BackendContext context) {
                last.set(context);
                return new MemoryEngine().open(context);
            }

            @Override
            public String address() {
                return "";
            }
        };
    }
}
