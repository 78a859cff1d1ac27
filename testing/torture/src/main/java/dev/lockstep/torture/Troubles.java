package dev.lockstep.torture;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** The times at which one of some faults was on or had not settled yet. Immutable. */
final class Troubles {
    static final Troubles NONE = new Troubles(Stream.empty(), 0);

    private final NavigableMap<Long, Long> windows = new TreeMap<>(); // from, until; disjoint

    private Troubles(Stream<FaultWindow> faults, long settleNanos) {
        faults.sorted(Comparator.comparingLong(FaultWindow::from)).forEach(fault -> {
            long until = fault.until() + settleNanos;
            Map.Entry<Long, Long> last = windows.lastEntry();
            if (last != null && last.getValue() >= fault.from()) {
                windows.put(last.getKey(), Math.max(until, last.getValue()));
            } else {
                windows.put(fault.from(), until);
            }
        });
    }

    static Troubles of(List<FaultWindow> faults, long settleNanos, Predicate<FaultWindow> which) {
        return new Troubles(faults.stream().filter(which), settleNanos);
    }

    /** Whether one of them touches a time. */
    boolean touch(long from, long until) {
        Map.Entry<Long, Long> before = windows.floorEntry(until);
        return before != null && before.getValue() >= from;
    }
}
