package dev.lockstep.internal;

import dev.lockstep.LockClient;
import dev.lockstep.LockListener;
import dev.lockstep.spi.BackendFactory;
import dev.lockstep.spi.Scheduler;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;

/** What the simulation needs of the core beyond the API. */
public final class SimClients {
    private SimClients() {}

    /** Opens a client on a clock and an executor of the caller's. */
    public static LockClient open(
            BackendFactory engine,
            Duration ttl,
            Duration requestTimeout,
            Scheduler scheduler,
            Executor executor,
            String id,
            List<LockListener> listeners) {
        Clients.Settings settings = new Clients.Settings(
                "sim", ttl, requestTimeout, Duration.ofMillis(5), Duration.ofMillis(50), id, executor, listeners);
        return new Client(engine, settings, null, scheduler, executor, id, id, () -> {});
    }

    /** Whether a closed client has nothing left of a name at its engine. */
    public static boolean isDrained(LockClient client, String name) {
        return ((Client) client).turnstile(name).close().isDone();
    }

    /** Whether nobody uses a name: then it is retired, and must not be used again. */
    public static boolean isIdle(LockClient client, String name) {
        return ((Client) client).turnstile(name).retire();
    }
}
