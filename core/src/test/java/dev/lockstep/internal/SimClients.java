package dev.lockstep.internal;

import dev.lockstep.LockClient;
import dev.lockstep.LockListener;
import dev.lockstep.LockMode;
import dev.lockstep.spi.BackendFactory;
import dev.lockstep.spi.Scheduler;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** What the simulation needs of the core beyond the API. */
public final class SimClients {
    private SimClients() {}

    /** Opens a client on the real clock, for real threads. */
    public static LockClient openReal(BackendFactory engine, Executor executor, List<LockListener> listeners) {
        SystemScheduler scheduler = new SystemScheduler("real");
        Clients.Settings settings = new Clients.Settings(
                "real",
                Duration.ofHours(1),
                Duration.ofSeconds(30),
                Duration.ofMillis(5),
                Duration.ofMillis(50),
                "real",
                executor,
                listeners);
        return new Client(engine, settings, null, scheduler, executor, "real", "real", scheduler::close);
    }

    /** Opens a client without a fallback. */
    public static LockClient open(
            BackendFactory engine,
            Duration ttl,
            Duration requestTimeout,
            Scheduler scheduler,
            Executor executor,
            String id,
            List<LockListener> listeners) {
        return open(engine, ttl, requestTimeout, scheduler, executor, id, listeners, null, Duration.ZERO);
    }

    /** Opens a client on a clock and an executor of the caller's; without a fallback if none is given. */
    public static LockClient open(
            BackendFactory engine,
            Duration ttl,
            Duration requestTimeout,
            Scheduler scheduler,
            Executor executor,
            String id,
            List<LockListener> listeners,
            @Nullable BackendFactory fallback,
            Duration after) {
        Clients.Settings settings = new Clients.Settings(
                "sim", ttl, requestTimeout, Duration.ofMillis(5), Duration.ofMillis(50), id, executor, listeners);
        Clients.FallbackPlan plan = fallback == null ? null : new Clients.FallbackPlan(fallback, after);
        return new Client(engine, settings, plan, scheduler, executor, id, id, () -> {});
    }

    /** Whether the calling thread's hold was taken in fallback. */
    public static boolean isFallback(LockClient client, String name, LockMode mode) {
        Hold hold = ((Client) client).turnstile(name).holdOf(Thread.currentThread(), mode);
        return hold != null && hold.passage.isFallback();
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
