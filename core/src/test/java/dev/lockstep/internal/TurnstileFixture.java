package dev.lockstep.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.DistributedLock;
import dev.lockstep.DistributedReadWriteLock;
import dev.lockstep.LockListener;
import dev.lockstep.internal.client.Client;
import dev.lockstep.internal.client.Clients;
import dev.lockstep.spi.VirtualScheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** A client over an engine that answers when the test says so, on a clock that the test turns. */
public final class TurnstileFixture {
    public static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(5);
    public static final Duration MAX_BACKOFF = Duration.ofSeconds(1);

    public final VirtualScheduler time = new VirtualScheduler();
    public final ScriptedBackend engine = new ScriptedBackend(time);
    public final List<String> events = new ArrayList<>();
    public final Client client = open();
    public final DistributedLock lock = client.lock("a");
    public final DistributedReadWriteLock readWrite = client.readWriteLock("a");

    /** Another client of the same engine. */
    public Client open() {
        LockListener listener = new LockListener() {
            @Override
            public void onUnreachable(Unreachable event) {
                events.add("unreachable");
            }

            @Override
            public void onReachable(Reachable event) {
                events.add("reachable");
            }

            @Override
            public void onLost(Lost event) {
                events.add("lost " + event.reason());
            }

            @Override
            public void onHandedOff(HandedOff event) {
                events.add("handed off");
            }
        };
        return open(List.of(listener));
    }

    /** Another client of the same engine. With no listeners, its threads take locks by inline claims. */
    public Client open(List<LockListener> listeners) {
        return open(settings(listeners));
    }

    /** Another client of the same engine, on which nobody listens, with a request timeout of its own. */
    public Client open(Duration requestTimeout) {
        return open(settings(List.of(), requestTimeout));
    }

    private Client open(Clients.Settings settings) {
        return new Client(context -> engine, settings, null, time, Runnable::run, "client", "id", () -> {});
    }

    public static Clients.Settings settings(List<LockListener> listeners) {
        return settings(listeners, REQUEST_TIMEOUT);
    }

    private static Clients.Settings settings(List<LockListener> listeners, Duration requestTimeout) {
        return new Clients.Settings(
                "test",
                Duration.ofSeconds(30),
                requestTimeout,
                Duration.ofMillis(20),
                MAX_BACKOFF,
                "client",
                null,
                listeners);
    }

    public static <T> T get(CompletableFuture<T> future) {
        assertThat(future).isDone();
        return future.join();
    }
}
