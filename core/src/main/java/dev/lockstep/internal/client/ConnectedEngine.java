package dev.lockstep.internal.client;

import dev.lockstep.LockConfigurationException;
import dev.lockstep.internal.engine.Engines;
import dev.lockstep.internal.engine.LateBackend;
import dev.lockstep.internal.events.Events;
import dev.lockstep.internal.fallback.FallbackBackend;
import dev.lockstep.internal.fallback.FallbackPlan;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.BackendFactory;
import dev.lockstep.spi.LockBackend;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The engine that a client is connected to, with its fallback if it has one.
 *
 * @param contact when the engine itself last answered; in fallback another one answers for it
 * @param patience how long a call without a deadline of its own waits for an engine that does not answer
 */
record ConnectedEngine(LockBackend backend, LongSupplier contact, Duration patience) {
    /**
     * Connects.
     *
     * @param plan null to fail fast
     */
    static ConnectedEngine open(
            BackendFactory factory,
            Clients.Settings settings,
            @Nullable FallbackPlan plan,
            BackendContext context,
            Events events) {
        if (plan == null) {
            LockBackend backend = settings.lazyConnect() ? LateBackend.lazy(factory, context) : factory.open(context);
            return new ConnectedEngine(backend, backend::lastContactNanos, settings.requestTimeout());
        }
        // A call without a deadline waits until the fallback begins, and then for its engine as otherwise for the
        // first.
        FallbackBackend both = FallbackBackend.open(factory, plan, context, events, settings.lazyConnect());
        return new ConnectedEngine(
                both, both::primaryContactNanos, settings.requestTimeout().plus(plan.after()));
    }

    /** Closes it and throws if its locks cannot have such a ttl. */
    void requireTtl(Duration ttl) {
        if (ttl.compareTo(backend.traits().minTtl()) < 0) {
            LockConfigurationException refusal = Engines.ttlTooShort(ttl, backend.traits());
            backend.close();
            throw refusal;
        }
    }
}
