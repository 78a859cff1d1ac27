package dev.lockstep.internal.fallback;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockListener;
import dev.lockstep.internal.ScriptedBackend;
import dev.lockstep.internal.TurnstileFixture;
import dev.lockstep.internal.client.Client;
import dev.lockstep.internal.client.Clients;
import dev.lockstep.spi.BackendFactory;
import dev.lockstep.spi.VirtualScheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** A client with a fallback, over two engines that answer when the test says so, on a clock that the test turns. */
public final class FallbackFixture {
    public static final Duration REQUEST_TIMEOUT = TurnstileFixture.REQUEST_TIMEOUT;
    public static final Duration AFTER = Duration.ofSeconds(10);
    public static final Duration MAX_BACKOFF = TurnstileFixture.MAX_BACKOFF;

    public final VirtualScheduler time = new VirtualScheduler();
    public final ScriptedBackend primary = new ScriptedBackend(time);
    public final ScriptedBackend fallback = new ScriptedBackend(time);
    public final List<String> events = new ArrayList<>();
    public final Client client = open(context -> primary, context -> fallback, time, events::add);
    public final DistributedLock lock = client.lock("a");

    public static Client open(
            BackendFactory engine, BackendFactory other, VirtualScheduler time, Consumer<String> events) {
        LockListener listener = new LockListener() {
            @Override
            public void onUnreachable(Unreachable event) {
                events.accept("unreachable");
            }

            @Override
            public void onReachable(Reachable event) {
                events.accept("reachable");
            }

            @Override
            public void onFallbackEntered(FallbackEntered event) {
                events.accept("entered after " + event.silence().toSeconds());
            }

            @Override
            public void onFallbackLeft(FallbackLeft event) {
                events.accept("left after " + event.duration().toSeconds());
            }
        };
        Clients.Settings settings = TurnstileFixture.settings(List.of(listener));
        FallbackPlan plan = new FallbackPlan(other, AFTER);
        return new Client(engine, settings, plan, time, Runnable::run, "client", "id", () -> {});
    }

    /** Lets the fallback begin because of a call that waits, and grants nothing. */
    public CompletableFuture<Lease> enterWaiting() {
        primary.reachable = false;
        CompletableFuture<Lease> waiting = lock.acquireAsync();
        time.advance(AFTER);
        assertThat(fallback.claims).hasSize(1);
        return waiting;
    }

    /** Lets the fallback begin, and takes the lock in it. */
    public Lease enterHolding() {
        CompletableFuture<Lease> waiting = enterWaiting();
        fallback.claim(0).grant();
        return get(waiting);
    }

    /** Lets the primary answer, and time for the next probe pass. */
    public void heal() {
        primary.reachable = true;
        time.advance(REQUEST_TIMEOUT.plus(MAX_BACKOFF));
    }

    public static <T> T get(CompletableFuture<T> future) {
        assertThat(future).isDone();
        return future.join();
    }
}
