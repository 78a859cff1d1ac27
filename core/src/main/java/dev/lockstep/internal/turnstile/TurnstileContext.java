package dev.lockstep.internal.turnstile;

import dev.lockstep.HolderInfo;
import dev.lockstep.LossReason;
import dev.lockstep.internal.concurrent.ThreadName;
import dev.lockstep.internal.concurrent.UserCode;
import dev.lockstep.internal.engine.Engines;
import dev.lockstep.internal.engine.Identity;
import dev.lockstep.internal.events.Events;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Scheduler;
import dev.lockstep.spi.Traits;
import java.time.Duration;
import java.time.Instant;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.LongUnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The functions that the turnstiles and locks of a client need from it. Safe for use by many threads. */
public final class TurnstileContext {
    private static final Logger log = LoggerFactory.getLogger(TurnstileContext.class);

    private final Settings settings;
    private final Duration requestTimeout;
    private final long requestTimeoutNanos;
    private final boolean timedCallsFailFast;
    private final long patienceNanos;
    private final LockBackend backend;
    private final Scheduler scheduler;
    private final UserCode userCode;
    private final Events events;
    private final Failures failures;
    private final Turnstiles turnstiles = new Turnstiles(this);
    private LongConsumer deadlines = deadline -> {};
    private LongConsumer outages = since -> {};
    private LongUnaryOperator owedSince = now -> now;
    private Waits waits = Waits.NONE;
    private volatile boolean closed;

    /**
     * The constant part.
     *
     * @param patience how long a call without a deadline of its own waits for an engine that does not answer
     * @param timedCallsFailFast whether an outage ends calls that have a deadline of their own, too
     */
    public record Settings(
            String clientName,
            String clientId,
            Duration requestTimeout,
            Duration patience,
            boolean timedCallsFailFast) {}

    public TurnstileContext(
            Settings settings, LockBackend backend, Scheduler scheduler, UserCode userCode, Events events) {
        this.settings = settings;
        this.requestTimeout = settings.requestTimeout();
        this.requestTimeoutNanos = requestTimeout.toNanos();
        this.timedCallsFailFast = settings.timedCallsFailFast();
        this.patienceNanos = settings.patience().toNanos();
        this.backend = backend;
        this.scheduler = scheduler;
        this.userCode = userCode;
        this.events = events;
        this.failures = new Failures(settings.clientName(), backend);
    }

    /**
     * Sets the watches of deadlines and outages. Once, before the first call.
     *
     * @param deadlines receives the time at which a hold ends at the latest
     * @param outages receives the time since which a call waits
     * @param owedSince says since when the engine owes an answer, given the time; that time itself if it owes none
     */
    public void watchedBy(LongConsumer deadlines, LongConsumer outages, LongUnaryOperator owedSince) {
        this.deadlines = deadlines;
        this.outages = outages;
        this.owedSince = owedSince;
    }

    /** Since when the engine owes an answer; now if it owes none. */
    public long engineOwesSince(long now) {
        return owedSince.applyAsLong(now);
    }

    /** Is notified of threads that wait. */
    public interface Waits {
        Waits NONE = new Waits() {
            @Override
            public void watch() {}

            @Override
            public void ended(Waiter waiter) {}
        };

        /** A thread waits. */
        void watch();

        /** The wait of a thread is over, and it was recorded in the engine. */
        void ended(Waiter waiter);
    }

    /** Sets the watch of threads that wait; none unless set. Once, before the first call. */
    public void waitsWatchedBy(Waits watch) {
        this.waits = watch;
    }

    public LockBackend backend() {
        return backend;
    }

    public Traits traits() {
        return backend.traits();
    }

    public Events events() {
        return events;
    }

    public Failures failures() {
        return failures;
    }

    public String id() {
        return settings.clientId();
    }

    public Duration requestTimeout() {
        return requestTimeout;
    }

    public long requestTimeoutNanos() {
        return requestTimeoutNanos;
    }

    public long patienceNanos() {
        return patienceNanos;
    }

    /** How much is left of a request timeout that began when the engine last answered. */
    public long patienceLeftNanos() {
        long silent = Math.max(nanoTime() - backend.lastContactNanos(), 0);
        return Math.max(requestTimeoutNanos - silent, 0);
    }

    public boolean timedCallsFailFast() {
        return timedCallsFailFast;
    }

    /** The clock of leases. */
    public long nanoTime() {
        return scheduler.nanoTime();
    }

    /** The clock of leases, for a request that is about to be sent. */
    long requestNanos() {
        return scheduler.requestNanos();
    }

    /** The clock of waits. */
    public long monotonicNanos() {
        return scheduler.monotonicNanos();
    }

    public Scheduler scheduler() {
        return scheduler;
    }

    public Turnstiles turnstiles() {
        return turnstiles;
    }

    public Turnstile turnstile(String lockName) {
        return turnstiles.of(lockName);
    }

    public void watchDeadline(long deadlineNanos) {
        deadlines.accept(deadlineNanos);
    }

    public void watchOutage(long sinceNanos) {
        outages.accept(sinceNanos);
    }

    void watchWait() {
        waits.watch();
    }

    void endWait(Waiter waiter) {
        waits.ended(waiter);
    }

    /** From now on every call is refused. */
    public void close() {
        closed = true;
    }

    public boolean isClosed() {
        return closed;
    }

    public void ensureOpen() {
        if (closed) {
            throw new IllegalStateException("Client '" + settings.clientName() + "' is closed.");
        }
    }

    /**
     * The caller, for people to read: "since" is as exact as the clocks, and differs a little from one call to the
     * next.
     */
    public HolderInfo holderInfo(ThreadName threadName, long sentNanos, boolean sticky) {
        Identity identity = Identity.ofProcess();
        Instant since = wallTime(sentNanos);
        return HolderInfo.of(settings.clientName(), identity.host(), identity.pid())
                .withThread(threadName.toString())
                .withSince(since)
                .withSticky(sticky);
    }

    /** A time of the clock of leases, for people. */
    public Instant wallTime(long nanos) {
        return scheduler.wallTime().minusNanos(scheduler.nanoTime() - nanos);
    }

    /** Runs users' code where it may take its time. */
    public void execute(Runnable task) {
        userCode.execute(task);
    }

    public void runLossAction(String lockName, Consumer<LossReason> action, LossReason reason) {
        if (action instanceof ImmediateLossAction) {
            action.accept(reason);
            return;
        }
        execute(() -> {
            try {
                action.accept(reason);
            } catch (Throwable e) {
                log.warn("Lock '{}': an onLost action failed", lockName, e);
            }
        });
    }

    /** The engine, as messages name it. */
    public String engine() {
        return Engines.describe(backend);
    }
}
