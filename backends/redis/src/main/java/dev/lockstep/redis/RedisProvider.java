package dev.lockstep.redis;

import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.BackendFactory;
import dev.lockstep.spi.BackendProvider;
import dev.lockstep.spi.LockBackend;
import java.util.Set;

/**
 * Serves {@code redis://}, {@code redis-sentinel://}, {@code redis-cluster://} and {@code redlock://}, and the same with TLS.
 * Used through {@link dev.lockstep.LockClient#connect(String)}. Safe for use by many threads.
 */
public final class RedisProvider implements BackendProvider {
    /** Makes the provider, for {@link java.util.ServiceLoader}. */
    public RedisProvider() {}

    @Override
    public Set<String> schemes() {
        return RedisUrl.SCHEMES;
    }

    @Override
    public BackendFactory parse(String url) {
        RedisUrl parsed = RedisUrl.parse(url);
        return new At(
                parsed.isRedlock()
                        ? Redlock.on(parsed.routes(), parsed.options())
                        : context -> RedisLocks.open(context, parsed::connect, parsed.options()),
                parsed.address());
    }

    /** A factory that knows from its URL where it will connect. */
    private record At(BackendFactory factory, String address) implements BackendFactory {
        @Override
        public LockBackend open(BackendContext context) {
            return factory.open(context);
        }
    }
}
