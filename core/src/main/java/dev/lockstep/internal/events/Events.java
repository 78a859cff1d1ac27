package dev.lockstep.internal.events;

import dev.lockstep.LockListener;
import dev.lockstep.LockMode;
import dev.lockstep.LockOptions;
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
 * Reports what happens to a client's locks: listeners are notified in order, one event at a time, on the client's
 * executor; observers at once, in the calling thread. Costs nothing without either. {@link Observation} reports single
 * calls and holds to observers.
 *
 * <p>The events of holds may be published under a turnstile's mutex: they are only queued there. The thread that
 * published them calls {@link #deliver()} after it has left the mutex, since the executor may run listeners in the
 * calling thread.
 *
 * <p>While listeners are too slow, the events of everyday calls are dropped and counted; those of holds that ended
 * badly are dropped later, since a client has as many of them as locks when it loses its engine. An outage, a fallback
 * and a deadlock are rare, and their events are never dropped: a listener that missed the end of an outage would never
 * learn of it.
 */
public final class Events {
    /**
     * How many events may wait before those of everyday calls are dropped. A listener that is a thousand times slower than
     * usual does not fill the heap.
     */
    static final int CAPACITY = 10_000;

    /** How many events may wait before also those of a loss, an unconfirmed release or an abandoned hold are dropped. */
    static final int LOSS_CAPACITY = 100_000;

    /** How often the log says that events are dropped. */
    private static final long WARN_NANOS = TimeUnit.SECONDS.toNanos(10);

    private static final Logger log = LoggerFactory.getLogger(Events.class);

    private final List<LockListener> listeners;
    private final Observers observers;
    private final EventLog eventLog;
    private final boolean heard;
    private final Executor executor;
    private final LongSupplier nanoTime;
    private final Queue<Consumer<LockListener>> queue = new ConcurrentLinkedQueue<>();

    /** How many events are queued. */
    private final AtomicInteger pending = new AtomicInteger();

    /** Whether a delivery is under way; the thread that sets it starts one. */
    private final AtomicBoolean delivering = new AtomicBoolean();

    private final AtomicLong dropped = new AtomicLong();

    /** When the log said so last; 0 before. */
    private final AtomicLong warnedNanos = new AtomicLong();

    public Events(
            List<LockListener> listeners,
            Observers observers,
            EventLog eventLog,
            Executor executor,
            LongSupplier nanoTime) {
        this.listeners = listeners;
        this.observers = observers;
        this.eventLog = eventLog;
        this.heard = !listeners.isEmpty();
        this.executor = executor;
        this.nanoTime = nanoTime;
    }

    /** Whether there are listeners, so that events must be published in their order. */
    public boolean isHeard() {
        return heard;
    }

    /** The log of what happens to this client's locks. */
    public EventLog log() {
        return eventLog;
    }

    public Observers observers() {
        return observers;
    }

    public void acquired(String lockName, LockMode mode, long waitedNanos) {
        if (isHeard()) {
            var event = new EventRecords.Acquired(lockName, mode, Duration.ofNanos(waitedNanos));
            publishBelow(CAPACITY, listener -> listener.onAcquired(event));
        }
    }

    public void handedOff(String lockName, LockMode mode, LockOptions options) {
        if (isHeard()) {
            var event = new EventRecords.HandedOff(lockName, mode, options);
            publishBelow(CAPACITY, listener -> listener.onHandedOff(event));
        }
    }

    /** Lets observers know of a hand-off. Not under a mutex. */
    public void reportHandOff(String lockName, LockMode mode, LockOptions options) {
        var event = new EventRecords.HandedOff(lockName, mode, options);
        observers.notifyEach(observer -> observer.handedOff(event));
    }

    public void released(String lockName, LockMode mode, long heldNanos) {
        if (isHeard()) {
            var event = new EventRecords.Released(lockName, mode, Duration.ofNanos(heldNanos));
            publishBelow(CAPACITY, listener -> listener.onReleased(event));
        }
    }

    public void lost(String lockName, LockMode mode, LossReason reason) {
        if (isHeard()) {
            var event = new EventRecords.Lost(lockName, mode, reason);
            publishBelow(LOSS_CAPACITY, listener -> listener.onLost(event));
        }
    }

    /**
     * Lets the log and flight recordings know of a loss. Not under a mutex.
     *
     * @param token 0 if nobody has asked for it
     */
    public void reportLoss(String lockName, LockMode mode, LossReason reason, long token, long heldNanos) {
        eventLog.lost(lockName, reason, token, heldNanos);
        FlightRecords.lost(eventLog.client(), lockName, mode, reason, token);
    }

    /** The same for permits. */
    public void reportPermitLoss(String semaphore, LossReason reason, long token, long heldNanos) {
        eventLog.permitLost(semaphore, reason, token, heldNanos);
        FlightRecords.lost(eventLog.client(), semaphore, LockMode.SHARED, reason, token);
    }

    public void unconfirmed(String lockName, LockMode mode, long heldNanos) {
        if (isHeard()) {
            var event = new EventRecords.Unconfirmed(lockName, mode, Duration.ofNanos(heldNanos));
            publishBelow(LOSS_CAPACITY, listener -> listener.onUnconfirmed(event));
        }
    }

    public void abandoned(LockListener.Abandoned event) {
        publishBelow(LOSS_CAPACITY, listener -> listener.onAbandoned(event));
        observers.notifyEach(observer -> observer.abandoned(event));
    }

    public void deadlock(LockListener.Deadlock event) {
        eventLog.deadlock(event);
        publish(listener -> listener.onDeadlock(event));
        observers.notifyEach(observer -> observer.deadlocked(event));
        deliver();
    }

    public void unreachable(long silenceNanos) {
        eventLog.unreachable(silenceNanos);
        var event = new EventRecords.Unreachable(Duration.ofNanos(silenceNanos));
        publish(listener -> listener.onUnreachable(event));
        observers.notifyEach(observer -> observer.unreachable(event));
        deliver();
    }

    public void reachable(long outageNanos) {
        eventLog.reachable(outageNanos);
        var event = new EventRecords.Reachable(Duration.ofNanos(outageNanos));
        publish(listener -> listener.onReachable(event));
        observers.notifyEach(observer -> observer.reachable(event));
        deliver();
    }

    public void fallbackEntered(long silenceNanos) {
        eventLog.fallbackEntered(silenceNanos);
        var event = new EventRecords.FallbackEntered(Duration.ofNanos(silenceNanos));
        publish(listener -> listener.onFallbackEntered(event));
        observers.notifyEach(observer -> observer.fallbackEntered(event));
        deliver();
    }

    public void fallbackLeft(long durationNanos) {
        eventLog.fallbackLeft(durationNanos);
        var event = new EventRecords.FallbackLeft(Duration.ofNanos(durationNanos));
        publish(listener -> listener.onFallbackLeft(event));
        observers.notifyEach(observer -> observer.fallbackLeft(event));
        deliver();
    }

    private void publish(Consumer<LockListener> event) {
        if (heard) {
            pending.incrementAndGet();
            queue.add(event);
        }
    }

    private void publishBelow(int capacity, Consumer<LockListener> event) {
        if (pending.get() < capacity) {
            publish(event);
        } else {
            drop(capacity);
        }
    }

    private void drop(int capacity) {
        long count = dropped.incrementAndGet();
        long now = nanoTime.getAsLong();
        long last = warnedNanos.get();
        if ((count == 1 || now - last >= WARN_NANOS) && warnedNanos.compareAndSet(last, now)) {
            log.warn(
                    "Listeners are too slow: at least {} events wait for them, and new ones are dropped ({} so far). Do slow"
                            + " work outside the listener.",
                    capacity,
                    count);
        }
    }

    /** How many events were dropped. */
    long dropped() {
        return dropped.get();
    }

    /** Starts the delivery of what was published. Not under a mutex. */
    public void deliver() {
        if (pending.get() > 0 && delivering.compareAndSet(false, true)) {
            try {
                executor.execute(this::run);
            } catch (Throwable e) {
                delivering.set(false);
                throw e;
            }
        }
    }

    private void run() {
        do {
            for (Consumer<LockListener> event = queue.poll(); event != null; event = queue.poll()) {
                pending.decrementAndGet();
                listeners.forEach(guarded(event));
            }
            delivering.set(false);
        } while (!queue.isEmpty() && delivering.compareAndSet(false, true));
    }

    private static Consumer<LockListener> guarded(Consumer<LockListener> event) {
        return listener -> {
            try {
                event.accept(listener);
            } catch (Throwable e) {
                log.warn("A listener failed: {}", listener.getClass().getName(), e);
            }
        };
    }
}
