package dev.lockstep.internal;

import dev.lockstep.LockClient;
import dev.lockstep.LockListener;
import dev.lockstep.spi.BackendFactory;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** Makes clients: checks what the builder was given, finds the engine, and connects. */
public final class Clients {
    private Clients() {}

    /** What the builder collected. */
    public record Settings(
            String namespace,
            Duration ttl,
            Duration requestTimeout,
            Duration minBackoff,
            Duration maxBackoff,
            @Nullable String clientName,
            @Nullable Executor executor,
            List<LockListener> listeners) {}

    public static LockClient connect(@Nullable String url, @Nullable BackendFactory backend, Settings settings) {
        throw new UnsupportedOperationException("not yet");
    }

    public static String requireNamespace(String namespace) {
        return namespace;
    }

    public static String requireName(String name, String what) {
        return name;
    }

    public static Duration requirePositive(Duration duration, String what) {
        if (duration.isNegative() || duration.isZero()) {
            throw new IllegalArgumentException(what + " must be positive: " + duration);
        }
        return duration;
    }
}
