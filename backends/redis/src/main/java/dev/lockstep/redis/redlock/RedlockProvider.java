package dev.lockstep.redis.redlock;

import dev.lockstep.redis.internal.Url;
import dev.lockstep.spi.BackendFactory;
import dev.lockstep.spi.BackendProvider;
import java.util.Set;

/**
 * Serves {@code redlock://}, and {@code redlocks://} with TLS. Used through {@link dev.lockstep.LockClient#connect(String)}.
 * Safe for use by many threads.
 */
public final class RedlockProvider implements BackendProvider {
    /** Makes the provider, for {@link java.util.ServiceLoader}. */
    public RedlockProvider() {}

    @Override
    public Set<String> schemes() {
        return Url.REDLOCK_SCHEMES;
    }

    @Override
    public BackendFactory parse(String url) {
        Url parsed = Url.parse(url);
        return parsed.addressed(RedlockEngine.on(parsed.routes(), parsed.settings()));
    }
}
