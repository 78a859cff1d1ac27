package dev.lockstep.internal.turnstile;

import dev.lockstep.DeadlockPolicy;
import dev.lockstep.LeaderTask;
import dev.lockstep.LockClient;
import dev.lockstep.LockListener;
import dev.lockstep.LockMode;
import dev.lockstep.internal.client.Client;
import dev.lockstep.internal.client.Clients;
import dev.lockstep.internal.client.Elections;
import dev.lockstep.internal.election.Election;
import dev.lockstep.internal.election.TermRun;
import dev.lockstep.internal.fallback.FallbackPlan;
import dev.lockstep.internal.time.SystemScheduler;
import dev.lockstep.spi.BackendFactory;
import dev.lockstep.spi.Backoff;
import dev.lockstep.spi.Scheduler;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Access to the core that the simulation needs beyond the API. */
public final class SimClients {
    /** So short that a backoff has no jitter. */
    private static final Duration NO_CHANCE = Duration.ofNanos(1);

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
        FallbackPlan plan = fallback == null ? null : new FallbackPlan(fallback, after);
        return new Client(engine, settings, plan, scheduler, executor, id, id, () -> {});
    }

    /** Opens a client in which nothing is left to chance. */
    public static LockClient openSteady(
            BackendFactory engine,
            Duration ttl,
            Duration requestTimeout,
            Scheduler scheduler,
            Executor executor,
            String id,
            Duration recordWaitsAfter) {
        Clients.Settings settings = new Clients.Settings(
                "sim",
                ttl,
                requestTimeout,
                NO_CHANCE,
                NO_CHANCE,
                id,
                executor,
                List.of(),
                List.of(),
                false,
                new Clients.Care(false, false, false, null, recordWaitsAfter, DeadlockPolicy.FAIL));
        return new Client(engine, settings, null, scheduler, executor, id, id, () -> {});
    }

    /** Makes a candidate whose tasks the caller runs. */
    public static Election election(LockClient client, String name, LeaderTask task, Consumer<TermRun> runner) {
        Backoff backoff = new Backoff(NO_CHANCE, NO_CHANCE);
        Client known = (Client) client;
        return (Election)
                new Elections(known, known.context(), Duration.ofMillis(100), backoff, runner).open(name, "", task);
    }

    /** Whether the calling thread's hold was taken in fallback. */
    public static boolean isFallback(LockClient client, String name, LockMode mode) {
        Hold hold = ((Client) client).context().turnstile(name).holdOf(Thread.currentThread(), mode);
        return hold != null && hold.isForeign();
    }

    /** Whether a closed client has nothing left of a name at its engine. */
    public static boolean isDrained(LockClient client, String name) {
        return ((Client) client).context().turnstile(name).close().isDone();
    }

    /** Whether nobody uses a name: then it is retired, and must not be used again. */
    public static boolean isIdle(LockClient client, String name) {
        return ((Client) client).context().turnstile(name).retire();
    }

    /** Throws if a turnstile of a client breaks an invariant of its state. */
    public static void checkInvariants(LockClient client) {
        for (Turnstile turnstile : ((Client) client).context().turnstiles().all()) {
            turnstile.read(state -> {
                state.check();
                return true;
            });
        }
    }
}
