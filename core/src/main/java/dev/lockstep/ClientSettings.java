package dev.lockstep;

import dev.lockstep.spi.Durations;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * How a client behaves: the part of {@link LockClient.Builder} that has a default for everything. Use it through {@link
 * LockClient#builder()}. Not safe for use by several threads.
 */
public abstract sealed class ClientSettings permits LockClient.Builder {
    Duration ttl = Duration.ofSeconds(30);
    Duration requestTimeout = Duration.ofSeconds(5);
    Duration minBackoff = Duration.ofMillis(20);
    Duration maxBackoff = Duration.ofSeconds(1);

    @Nullable
    Executor executor;

    Fallback fallback = Fallback.failFast();
    boolean timedCallsFailFast;
    boolean lazyConnect;
    boolean releaseOnShutdown;
    boolean releaseAbandoned;

    @Nullable
    Duration longHold;

    Duration recordWaitsAfter = Duration.ofSeconds(1);
    DeadlockPolicy deadlocks = DeadlockPolicy.REPORT;
    final List<LockListener> listeners = new ArrayList<>();
    final List<LockObserver> observers = new ArrayList<>();

    ClientSettings() {}

    /** The builder, which is the only subclass. */
    abstract LockClient.Builder self();

    /**
     * How long a lock outlives a dead client. Also how long a live client may be out of touch with the engine before it
     * loses its locks.
     *
     * @param ttl not below the engine's minimum and at most 20 days; 30 seconds unless set
     * @return this
     * @throws IllegalArgumentException if it is not positive, or above 20 days
     */
    public LockClient.Builder ttl(Duration ttl) {
        this.ttl = Durations.requireAtMost(ttl, Durations.LONGEST_TIMEOUT, "ttl");
        return self();
    }

    /**
     * How long one request to the engine may take, and how long a call without a deadline of its own waits for an
     * engine that does not answer.
     *
     * @param requestTimeout from 1 millisecond to 20 days; 5 seconds unless set
     * @return this
     * @throws IllegalArgumentException if it is shorter or longer
     */
    public LockClient.Builder requestTimeout(Duration requestTimeout) {
        this.requestTimeout = Durations.requireTimeout(requestTimeout, "requestTimeout");
        return self();
    }

    /**
     * How long to wait before a failed request is tried again: from {@code min} after the first failure, doubling
     * to {@code max}, each with jitter.
     *
     * @param min 20 milliseconds unless set
     * @param max 1 second unless set
     * @return this
     * @throws IllegalArgumentException if one is not from 1 millisecond to 20 days, or {@code min} is above {@code
     *     max}
     */
    public LockClient.Builder retryBackoff(Duration min, Duration max) {
        Durations.requireTimeout(min, "retryBackoff min");
        Durations.requireTimeout(max, "retryBackoff max");
        if (min.compareTo(max) > 0) {
            throw new IllegalArgumentException("retryBackoff min " + min + " is above max " + max);
        }
        this.minBackoff = min;
        this.maxBackoff = max;
        return self();
    }

    /**
     * Where futures are completed, and where listeners and loss actions run. It should be able to grow, or its tasks
     * should never block: a callback that waits for another one needs a second thread. Tasks that it refuses run on
     * daemon threads of the client's own.
     *
     * @param executor the executor, not closed by the client; daemon threads of the client's own unless set
     * @return this
     */
    public LockClient.Builder executor(Executor executor) {
        this.executor = Objects.requireNonNull(executor, "executor");
        return self();
    }

    /**
     * The behaviour while the engine is down.
     *
     * @param fallback {@link Fallback#failFast()} unless set
     * @return this
     */
    public LockClient.Builder fallback(Fallback fallback) {
        this.fallback = Objects.requireNonNull(fallback, "fallback");
        return self();
    }

    /**
     * Connects in the background: {@link LockClient.Builder#connect()} returns at once, even if the engine is down, and
     * the client keeps trying until it is connected. Use it for a service that must start without its engine. A call
     * that is made before that waits for the connection. If there is no connection, the call ends as in an outage: with
     * a {@link LockUnavailableException}, within its usual time. {@code connect()} still throws if the URL is
     * malformed. If something is wrong on the engine's side, such as a password or an option that the engine does not
     * have, the calls throw a {@link LockConfigurationException}.
     *
     * <p>If there is a fallback, the client connects to the fallback's engine at once. Calls use it when the first
     * engine has not answered for {@link Fallback#after()}.
     *
     * @return this
     */
    public LockClient.Builder lazyConnect() {
        this.lazyConnect = true;
        return self();
    }

    /**
     * Ends calls that have a deadline of their own, such as {@code tryLock(20, SECONDS)}, as soon as the engine has not
     * answered for the request timeout, like calls without one. Unless set, they keep trying until their deadline, in
     * case the engine comes back.
     *
     * @return this
     */
    public LockClient.Builder timedCallsFailFast() {
        this.timedCallsFailFast = true;
        return self();
    }

    /**
     * Closes the client when the JVM ends, by {@code System.exit} or a signal such as {@code SIGTERM}, so that its
     * locks are free at once and not after the ttl. If the engine does not answer, this takes two request timeouts at
     * most. Holds end with {@link LossReason#CLIENT_CLOSED}; if that matters, first stop the work that runs under
     * them. After {@code kill -9}, locks are free only after the ttl.
     *
     * @return this
     */
    public LockClient.Builder releaseOnShutdown() {
        this.releaseOnShutdown = true;
        return self();
    }

    /**
     * Releases the locks of threads that have ended without releasing them. Unless set, such a lock stays held, as a
     * {@code ReentrantLock} would: unfinished work of the thread stays protected. In both cases a warning is logged and
     * {@link LockListener#onAbandoned} is called, within the ttl.
     *
     * @return this
     */
    public LockClient.Builder releaseAbandoned() {
        this.releaseAbandoned = true;
        return self();
    }

    /**
     * Finds locks that are held for too long, and remembers where each was acquired: a warning with that place is
     * logged once a hold has lasted for the threshold. Warnings about abandoned locks include the place, too. It costs
     * a stack trace for each acquired lock, so use it to find a leak, and not permanently.
     *
     * @param threshold how long a hold may last; {@code ChronoUnit.FOREVER.getDuration()} to remember places only
     * @return this
     * @throws IllegalArgumentException if it is not positive
     */
    public LockClient.Builder leakDetection(Duration threshold) {
        this.longHold = Durations.requireLimit(threshold, "leakDetection");
        return self();
    }

    /**
     * How long a thread that holds a lock waits for another one before it records the wait in the engine, so that
     * {@link LockAdmin#waitGraph()} shows it and deadlocks are found. The client then checks for deadlocks several
     * times in each such period, with one request for each lock in a chain. Without such a thread, the client writes
     * nothing and asks nothing.
     *
     * @param time 1 millisecond or more; 1 second unless set
     * @return this
     * @throws IllegalArgumentException if it is shorter, or above 20 days
     */
    public LockClient.Builder recordWaitsAfter(Duration time) {
        this.recordWaitsAfter = Durations.requireTimeout(time, "recordWaitsAfter");
        return self();
    }

    /**
     * The behaviour in deadlocks: threads that hold locks and wait for each other's, in one process or in several.
     *
     * @param policy the same for all clients of an engine; {@link DeadlockPolicy#REPORT} unless set
     * @return this
     */
    public LockClient.Builder deadlocks(DeadlockPolicy policy) {
        this.deadlocks = Objects.requireNonNull(policy, "policy");
        return self();
    }

    /**
     * Adds a listener.
     *
     * @param listener is notified of what happens to the client's locks
     * @return this
     */
    public LockClient.Builder listener(LockListener listener) {
        listeners.add(Objects.requireNonNull(listener, "listener"));
        return self();
    }

    /**
     * Adds an observer.
     *
     * @param observer is called for calls, holds and requests, in the thread in which they happen
     * @return this
     */
    public LockClient.Builder observer(LockObserver observer) {
        observers.add(Objects.requireNonNull(observer, "observer"));
        return self();
    }
}
