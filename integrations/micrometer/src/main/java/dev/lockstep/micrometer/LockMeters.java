package dev.lockstep.micrometer;

import dev.lockstep.LockMode;
import dev.lockstep.LockObserver.CallOutcome;
import dev.lockstep.LockObserver.HoldOutcome;
import dev.lockstep.LossReason;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.ToDoubleFunction;

/** The meters of the locks of one client, mode and group. Safe for use by many threads. */
final class LockMeters {
    static final String ACQUIRE = "lockstep.lock.acquire";
    static final String HOLD = "lockstep.lock.hold";
    static final String LOST = "lockstep.lock.lost";
    static final String HAND_OFFS = "lockstep.lock.handoffs";
    static final String ACTIVE = "lockstep.lock.active";
    static final String WAITING = "lockstep.lock.waiting";

    private final MeterRegistry registry;
    private final Tags tags;
    private final LongAdder active = new LongAdder();
    private final LongAdder waiting = new LongAdder();

    // Timers are made when first used; registering one twice gives the same.
    private final AtomicReferenceArray<Timer> calls = new AtomicReferenceArray<>(CallOutcome.values().length);
    private final AtomicReferenceArray<Timer> holds = new AtomicReferenceArray<>(HoldOutcome.values().length);

    // Made at once: a rate does not show the first event of a counter that did not exist before.
    private final Map<LossReason, Counter> losses = new EnumMap<>(LossReason.class);
    private final Counter handOffs;
    private final List<Meter> gauges;

    LockMeters(MeterRegistry registry, Tags clientTags, LockMode mode, String group) {
        this.registry = registry;
        this.tags = clientTags.and("mode", word(mode), "group", group);
        for (LossReason reason : LossReason.values()) {
            losses.put(
                    reason,
                    Counter.builder(LOST)
                            .description("Holds that were lost")
                            .tags(tags)
                            .tag("reason", word(reason))
                            .register(registry));
        }
        this.handOffs = Counter.builder(HAND_OFFS)
                .description("Grants that passed to another local hold without asking the engine")
                .tags(tags)
                .register(registry);
        // Meters of another client with the same tags stay with that client, which removes them.
        this.gauges = isTaken(registry, ACTIVE, tags)
                ? List.of()
                : List.of(
                        gauge(ACTIVE, "Holds that have not ended", meters -> meters.active.sum()),
                        gauge(WAITING, "Calls that wait for a lock", meters -> meters.waiting.sum()));
    }

    /** Whether there is a meter already that has a name and tags. */
    static boolean isTaken(MeterRegistry registry, String name, Tags tags) {
        return registry.find(name).tags(tags).meter() != null;
    }

    private Gauge gauge(String name, String description, ToDoubleFunction<LockMeters> value) {
        return Gauge.builder(name, this, value)
                .description(description)
                .tags(tags)
                .register(registry);
    }

    /** A constant as tags spell it. */
    static String word(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }

    /** The value of the tag {@code outcome} of a call. */
    static String word(CallOutcome outcome) {
        return switch (outcome) {
            case TIMED_OUT -> "timeout";
            case INTERRUPTED, CANCELLED -> "cancelled";
            case ACQUIRED, REENTERED, BUSY, UNAVAILABLE, FAILED -> word((Enum<?>) outcome);
        };
    }

    void waiting(boolean begins) {
        waiting.add(begins ? 1 : -1);
    }

    void callEnded(CallOutcome outcome, long nanos) {
        Timer timer = calls.getAcquire(outcome.ordinal());
        if (timer == null) {
            timer = timer(ACQUIRE, "Time from the call for a lock to its end", word(outcome));
            calls.setRelease(outcome.ordinal(), timer);
        }
        timer.record(nanos, TimeUnit.NANOSECONDS);
        if (outcome == CallOutcome.ACQUIRED) {
            active.increment();
        }
    }

    void holdEnded(HoldOutcome outcome, long nanos) {
        Timer timer = holds.getAcquire(outcome.ordinal());
        if (timer == null) {
            timer = timer(HOLD, "Time for which a lock was held", word(outcome));
            holds.setRelease(outcome.ordinal(), timer);
        }
        timer.record(nanos, TimeUnit.NANOSECONDS);
        active.decrement();
    }

    void lost(LossReason reason) {
        Counter counter = losses.get(reason);
        if (counter != null) {
            counter.increment();
        }
    }

    void handedOff() {
        handOffs.increment();
    }

    private Timer timer(String name, String description, String outcome) {
        return Timer.builder(name)
                .description(description)
                .tags(tags)
                .tag("outcome", outcome)
                .register(registry);
    }

    /** Removes what a closed client has no value for. */
    void close() {
        gauges.forEach(registry::remove);
    }
}
