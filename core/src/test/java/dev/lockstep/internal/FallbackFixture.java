package dev.lockstep.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockListener;
import dev.lockstep.spi.BackendFactory;
import dev.lockstep.spi.VirtualScheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** A client with a fallback, over two engines that answer when the test says so, on a clock that the test turns. */
final class FallbackFixture {
    static final Duration REQUEST_TIMEOUT = TurnstileFixture.REQUEST_TIMEOUT;
    static final Duration AFTER = Duration.ofSeconds(10);
    static final Duration MAX_BACKOFF = TurnstileFixture.MAX_BACKOFF;

    final VirtualScheduler time = new VirtualScheduler();
    final ScriptedBackend primary = new ScriptedBackend(time);
    final ScriptedBackend fallback = new ScriptedBackend(time);
    final List<String> events = new ArrayList<>();
    final Client client = open(context -> primary, context -> fallback, time, events::add);
    final DistributedLock lock = client.lock("a");

    static Client open(BackendFactory engine, BackendFactory other, VirtualScheduler time, Consumer<String> events) {
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
        Clients.FallbackPlan plan = new Clients.FallbackPlan(other, AFTER);
        return new Client(engine, settings, plan, time, Runnable::run, "client", "id", () -> {});
    }

    /** Lets the fallback begin because of a call that waits, and grants nothing. */
    CompletableFuture<Lease> enterWaiting() {
        primary.reachable = false;
        CompletableFuture<Lease> waiting = lock.acquireAsync();
        time.advance(AFTER);
        assertThat(fallback.claims).hasSize(1);
        return waiting;
    }

    /** Lets the fallback begin, and takes the lock in it. */
    Lease enterHolding() {
        CompletableFuture<Lease> waiting = enterWaiting();
        fallback.claim(0).grant();
        return get(waiting);
    }

    /** Lets the primary answer, and time for the next probe pass. */
    void heal() {
        primary.reachable = true;
        time.advance(REQUEST_TIMEOUT.plus(MAX_BACKOFF));
    }

    static <T> T get(CompletableFuture<T> future) {
        assertThat(future).isDone();
        return future.join();
    }
}
