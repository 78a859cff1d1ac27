package dev.lockstep.internal;

import dev.lockstep.LockListener;
import dev.lockstep.LockMode;
import dev.lockstep.LossReason;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notifies listeners: in order, one event at a time, on the client's executor. Costs nothing without listeners.
 *
 * <p>The events of holds may be published under a turnstile's mutex: they are only queued there. Whoever published them
 * calls {@link #deliver()} after the mutex was left, since the executor may run listeners in the calling thread.
 *
 * <p>The queue is bounded: while listeners are too slow, new events are dropped and counted.
 */
final class Events {
    /** Events that wait for listeners. A listener that is a thousand times slower than usual does not fill the heap. */
    static final int CAPACITY = 10_000;

    /** How often the log says that events are dropped. */
    private static final long WARN_NANOS = TimeUnit.SECONDS.toNanos(10);

    private static final Logger log = LoggerFactory.getLogger(Events.class);

    private final List<LockListener> listeners;
    private final boolean heard;
    private final Executor executor;
    private final LongSupplier nanoTime;
    private final Queue<Consumer<LockListener>> queue = new ConcurrentLinkedQueue<>();

    /** How many events are queued. */
    private final AtomicInteger pending = new AtomicInteger();

    /** Whether a delivery is under way; whoever sets it starts one. */
    private final AtomicBoolean delivering = new AtomicBoolean();

    private final AtomicLong dropped = new AtomicLong();

    /** When the log said so last; 0 before. */
    private final AtomicLong warnedNanos = new AtomicLong();

    Events(List<LockListener> listeners, Executor executor, LongSupplier nanoTime) {
        this.listeners = listeners;
        this.heard = !listeners.isEmpty();
        this.executor = executor;
        this.nanoTime = nanoTime;
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

    void unconfirmed(String lockName, LockMode mode, long heldNanos) {
        if (isHeard()) {
            var event = new LockListener.Unconfirmed(lockName, mode, Duration.ofNanos(heldNanos));
            publish(listener -> listener.onUnconfirmed(event));
        }
    }

    void abandoned(LockListener.Abandoned event) {
        if (isHeard()) {
            publish(listener -> listener.onAbandoned(event));
        }
    }

    void unreachable(long silenceNanos) {
        var event = new LockListener.Unreachable(Duration.ofNanos(silenceNanos));
        publish(listener -> listener.onUnreachable(event));
        deliver();
    }

    void reachable(long outageNanos) {
        var event = new LockListener.Reachable(Duration.ofNanos(outageNanos));
        publish(listener -> listener.onReachable(event));
        deliver();
    }

    void fallbackEntered(long silenceNanos) {
        var event = new LockListener.FallbackEntered(Duration.ofNanos(silenceNanos));
        publish(listener -> listener.onFallbackEntered(event));
        deliver();
    }

    void fallbackLeft(long durationNanos) {
        var event = new LockListener.FallbackLeft(Duration.ofNanos(durationNanos));
        publish(listener -> listener.onFallbackLeft(event));
        deliver();
    }

    private void publish(Consumer<LockListener> event) {
        if (!heard) {
            return;
        }
        if (pending.incrementAndGet() > CAPACITY) {
            pending.decrementAndGet();
            drop();
            return;
        }
        queue.add(event);
    }

    private void drop() {
        long count = dropped.incrementAndGet();
        long now = nanoTime.getAsLong();
        long last = warnedNanos.get();
        if ((count == 1 || now - last >= WARN_NANOS) && warnedNanos.compareAndSet(last, now)) {
            log.warn(
                    "Listeners are too slow: {} events wait for them, and new ones are dropped ({} so far). Do slow work"
                            + " outside the listener.",
                    CAPACITY,
                    count);
        }
    }

    /** How many events no listener has heard of. */
    long dropped() {
        return dropped.get();
    }

    /** Starts the delivery of what was published. Not under a mutex. */
    void deliver() {
        if (pending.get() > 0 && delivering.compareAndSet(false, true)) {
            try {
                executor.execute(this::run);
            } catch (RuntimeException | Error e) {
                delivering.set(false);
                throw e;
            }
        }
    }

    private void run() {
        do {
            for (Consumer<LockListener> event = queue.poll(); event != null; event = queue.poll()) {
                pending.decrementAndGet();
                listeners.forEach(tell(event));
            }
            delivering.set(false);
        } while (!queue.isEmpty() && delivering.compareAndSet(false, true));
    }

    private static Consumer<LockListener> tell(Consumer<LockListener> event) {
        return listener -> {
            try {
                event.accept(listener);
            } catch (RuntimeException | Error e) {
                log.warn("A listener failed: {}", listener.getClass().getName(), e);
            }
        };
    }
}
