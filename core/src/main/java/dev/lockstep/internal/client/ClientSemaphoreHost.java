package dev.lockstep.internal.client;

import dev.lockstep.HolderInfo;
import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
import dev.lockstep.LockObserver;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.LossReason;
import dev.lockstep.internal.concurrent.ThreadName;
import dev.lockstep.internal.events.EventRecords;
import dev.lockstep.internal.events.Events;
import dev.lockstep.internal.events.Observers;
import dev.lockstep.internal.semaphore.SemaphoreHost;
import dev.lockstep.internal.turnstile.Tokens;
import dev.lockstep.internal.turnstile.TurnstileContext;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Scheduler;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The context of semaphores. */
record ClientSemaphoreHost(
        TurnstileContext context,
        Function<String, LockInfo> inspection,
        @Nullable Duration longHold) implements SemaphoreHost {
    @Override
    public LockBackend backend() {
        return context.backend();
    }

    @Override
    public Scheduler scheduler() {
        return context.scheduler();
    }

    @Override
    public Duration requestTimeout() {
        return context.requestTimeout();
    }

    @Override
    public long patienceNanos() {
        return context.patienceNanos();
    }

    @Override
    public long engineOwesSince(long now) {
        return context.engineOwesSince(now);
    }

    @Override
    public boolean timedCallsFailFast() {
        return context.timedCallsFailFast();
    }

    /** Turnstiles are numbered from 1, so no claim of a lock has such an id. */
    @Override
    public String claimId(long number) {
        return context.id() + ".0." + Long.toString(number, 36);
    }

    @Override
    public ThreadName threadName() {
        return ThreadName.current();
    }

    @Override
    public HolderInfo holder(ThreadName threadName, long sentNanos) {
        return context.holderInfo(threadName, sentNanos, false);
    }

    /** As that of the first hold under a grant of a lock. */
    @Override
    public long token(long granted) {
        return (granted << Tokens.SHIFT) + 1;
    }

    @Override
    public LockInfo inspect(String name) {
        return inspection.apply(name);
    }

    @Override
    public void ensureOpen() {
        context.ensureOpen();
    }

    @Override
    public void execute(Runnable code) {
        context.execute(code);
    }

    @Override
    public void runLossAction(String name, Consumer<LossReason> action, LossReason reason) {
        context.runLossAction(name, action, reason);
    }

    @Override
    public void watchDeadline(long deadlineNanos) {
        context.watchDeadline(deadlineNanos);
    }

    @Override
    public void watchOutage(long sinceNanos) {
        context.watchOutage(sinceNanos);
    }

    @Override
    public String engine() {
        return context.engine();
    }

    @Override
    public RuntimeException failure(String name, @Nullable Throwable error) {
        return context.failures().failure(name, error);
    }

    @Override
    public LockUnavailableException unavailable(String name, long silenceNanos) {
        return context.failures().unavailable(name, silenceNanos);
    }

    @Override
    public LockUnavailableException unconfirmed(String name) {
        return context.failures().unconfirmed(name);
    }

    @Override
    public LockUnavailableException closedWhileWaiting(String name) {
        return context.failures().closedWhileWaiting(name);
    }

    @Override
    public void publish(Event event, String name, long nanos) {
        Events events = context.events();
        switch (event) {
            case ACQUIRED -> events.acquired(name, LockMode.SHARED, nanos);
            case RELEASED -> events.released(name, LockMode.SHARED, nanos);
            case UNCONFIRMED -> events.unconfirmed(name, LockMode.SHARED, nanos);
        }
        events.deliver();
    }

    @Override
    public void lost(String name, LossReason reason, long token, long heldNanos) {
        Events events = context.events();
        events.reportPermitLoss(name, reason, token, heldNanos);
        events.lost(name, LockMode.SHARED, reason);
        events.deliver();
    }

    @Override
    public void abandoned(String name, long token, long heldNanos, @Nullable Throwable place) {
        Events events = context.events();
        Duration held = Duration.ofNanos(heldNanos);
        events.log().permitAbandoned(name, token, held, place);
        events.abandoned(new EventRecords.Abandoned(name, LockMode.SHARED, "", held, true));
    }

    @Override
    public void lastsLong(String name, long token, long heldNanos, @Nullable Throwable place) {
        Duration allowed = longHold == null ? Duration.ZERO : longHold;
        context.events()
                .log()
                .lastsLong(
                        "Semaphore '" + name + "': a permit has been held",
                        name,
                        token,
                        Duration.ofNanos(heldNanos),
                        allowed,
                        place);
    }

    @Override
    public LockObserver.@Nullable CallObserver observe(LockObserver.Call call) {
        Observers observers = context.events().observers();
        if (!observers.isAny()) {
            return null;
        }
        Observers.Followed followed = observers.started(call);
        return followed.isNothing() ? null : followed;
    }
}
