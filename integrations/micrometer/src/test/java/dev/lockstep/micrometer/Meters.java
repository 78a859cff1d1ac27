package dev.lockstep.micrometer;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.Collection;
import java.util.Set;
import java.util.TreeSet;

/** Reads meters: sums over all tags that are not given. */
record Meters(MeterRegistry registry) {
    /** How often a timer has recorded. */
    long count(String timer, String... tags) {
        return registry.find(timer).tags(tags).timers().stream()
                .mapToLong(Timer::count)
                .sum();
    }

    long acquire(String outcome) {
        return count(LockMeters.ACQUIRE, "outcome", outcome);
    }

    long hold(String outcome) {
        return count(LockMeters.HOLD, "outcome", outcome);
    }

    long counter(String name, String... tags) {
        return (long) registry.find(name).tags(tags).counters().stream()
                .mapToDouble(Counter::count)
                .sum();
    }

    long gauge(String name, String... tags) {
        Collection<Gauge> gauges = registry.find(name).tags(tags).gauges();
        return gauges.isEmpty()
                ? -1
                : (long) gauges.stream().mapToDouble(Gauge::value).sum();
    }

    long active() {
        return gauge(LockMeters.ACTIVE);
    }

    /** All values of a tag. */
    Set<String> values(String tag) {
        Set<String> values = new TreeSet<>();
        registry.getMeters().forEach(meter -> {
            String value = meter.getId().getTag(tag);
            if (value != null) {
                values.add(value);
            }
        });
        return values;
    }
}
