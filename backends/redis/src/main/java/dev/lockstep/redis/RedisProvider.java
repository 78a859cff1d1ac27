package dev.lockstep.redis;

import dev.lockstep.redis.internal.Url;
import dev.lockstep.spi.BackendFactory;
import dev.lockstep.spi.BackendProvider;
import java.util.Set;

/**
 * Serves {@code redis://}, {@code redis-sentinel://} and {@code redis-cluster://}, and the same with TLS. Used through {@link
 * dev.lockstep.LockClient#connect(String)}. Safe for use by many threads.
 */
public final class RedisProvider implements BackendProvider {
    /** Makes the provider, for {@link java.util.ServiceLoader}. */
    public RedisProvider() {}

    @Override
    public Set<String> schemes() {
        return Url.SCHEMES;
    }

    @Override
    public BackendFactory parse(String url) {
        Url parsed = Url.parse(url);
        return parsed.addressed(context -> RedisEngine.open(context, parsed::connect, parsed.settings()));
    }
}
