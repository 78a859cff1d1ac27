package dev.lockstep.internal;

import dev.lockstep.LockListener;
import dev.lockstep.LockMode;
import dev.lockstep.LossReason;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells listeners what happened: in order, one at a time, on the client's executor. Costs nothing without listeners.
 * May be called under a turnstile's mutex: events are only queued there.
 */
final class Events {
    private static final Logger log = LoggerFactory.getLogger(Events.class);

    private final List<LockListener> listeners;
    private final boolean heard;
    private final Executor executor;
    private final Queue<Consumer<LockListener>> queue = new ConcurrentLinkedQueue<>();

    /** How many events are queued; whoever raises it from zero starts the delivery. */
    private final AtomicInteger pending = new AtomicInteger();

    Events(List<LockListener> listeners, Executor executor) {
        this.listeners = listeners;
        this.heard = !listeners.isEmpty();
        this.executor = executor;
    }

    boolean isHeard() {
        return heard;
    }

    void acquired(String lockName, LockMode mode, long waitedNanos) {
        if (isHeard()) {
            var event = new LockListener.Acquired(lockName, mode, Duration.ofNanos(waitedNanos));
            publish(listener -> listener.onAcquired(event));
        }
    }

    void handedOff(String lockName, LockMode mode) {
        if (isHeard()) {
            var event = new LockListener.HandedOff(lockName, mode);
            publish(listener -> listener.onHandedOff(event));
        }
    }

    void released(String lockName, LockMode mode, long heldNanos) {
        if (isHeard()) {
            var event = new LockListener.Released(lockName, mode, Duration.ofNanos(heldNanos));
            publish(listener -> listener.onReleased(event));
        }
    }

    void lost(String lockName, LockMode mode, LossReason reason) {
        if (isHeard()) {
            var event = new LockListener.Lost(lockName, mode, reason);
            publish(listener -> listener.onLost(event));
        }
    }

    void unreachable(long silenceNanos) {
        var event = new LockListener.Unreachable(Duration.ofNanos(silenceNanos));
        publish(listener -> listener.onUnreachable(event));
    }

    void reachable(long outageNanos) {
        var event = new LockListener.Reachable(Duration.ofNanos(outageNanos));
        publish(listener -> listener.onReachable(event));
    }

    void fallbackEntered(long silenceNanos) {
        var event = new LockListener.FallbackEntered(Duration.ofNanos(silenceNanos));
        publish(listener -> listener.onFallbackEntered(event));
    }

    void fallbackLeft(long durationNanos) {
        var event = new LockListener.FallbackLeft(Duration.ofNanos(durationNanos));
        publish(listener -> listener.onFallbackLeft(event));
    }

    private void publish(Consumer<LockListener> event) {
        queue.add(event);
        if (pending.getAndIncrement() == 0) {
            executor.execute(this::deliver);
        }
    }

    private void deliver() {
        do {
            Consumer<LockListener> event = queue.remove();
            for (LockListener listener : listeners) {
                try {
                    event.accept(listener);
                } catch (RuntimeException | Error e) {
                    log.warn("A listener failed: {}", listener.getClass().getName(), e);
                }
            }
        } while (pending.decrementAndGet() > 0);
    }
}
