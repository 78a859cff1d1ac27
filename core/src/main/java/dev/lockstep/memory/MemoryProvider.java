package dev.lockstep.memory;

import dev.lockstep.LockConfigurationException;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.BackendFactory;
import dev.lockstep.spi.BackendProvider;
import dev.lockstep.spi.LockBackend;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Serves {@code memory:} and {@code memory:NAME}. Used through {@link dev.lockstep.LockClient#connect(String)}. Safe for
 * use by many threads.
 */
public final class MemoryProvider implements BackendProvider {
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._-]{1,64}");
    private static final Map<String, MemoryEngine> SHARED = new HashMap<>(); // guarded by itself

    /** Makes the provider, for {@link java.util.ServiceLoader}. */
    public MemoryProvider() {}

    @Override
    public Set<String> schemes() {
        return Set.of("memory");
    }

    @Override
    public BackendFactory parse(String url) {
        String name = url.substring(url.indexOf(':') + 1);
        if (name.isEmpty()) {
            return new Factory(context -> new MemoryEngine().open(context));
        }
        if (!NAME.matcher(name).matches()) {
            throw new LockConfigurationException(
                    null,
                    "Not a URL of the memory engine. Expected memory: or memory:NAME, the name of up to 64 letters,"
                            + " digits, '.', '_', '-'.");
        }
        return new Factory(context -> openShared(name, context));
    }

    /** Makes the backend when a client connects. */
    private record Factory(BackendFactory opening) implements BackendFactory {
        @Override
        public LockBackend open(BackendContext context) {
            return opening.open(context);
        }

        @Override
        public String engine() {
            return "memory";
        }
    }

    private static LockBackend openShared(String name, BackendContext context) {
        synchronized (SHARED) {
            MemoryEngine engine = SHARED.computeIfAbsent(name, key -> new MemoryEngine());
            return engine.open(context, () -> freeIfUnused(name, engine));
        }
    }

    private static void freeIfUnused(String name, MemoryEngine engine) {
        synchronized (SHARED) {
            if (engine.isUnused()) {
                SHARED.remove(name, engine);
            }
        }
    }

    /** Counts the engines that are shared now. */
    static int sharedEngines() {
        synchronized (SHARED) {
            return SHARED.size();
        }
    }
}
