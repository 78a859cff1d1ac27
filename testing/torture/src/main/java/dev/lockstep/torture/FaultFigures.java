package dev.lockstep.torture;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * The effects of the faults of a run, by kind: how many, how many landed in a hold, how many leases ended in them or
 * within a ttl after, and how long it took from their end until every lock had been entered again, which the next
 * faults may have made longer.
 */
final class FaultFigures {
    private final Map<String, Kind> kinds = new TreeMap<>();
    private final long[][] entries;
    private int count;
    private int failed;
    private int landed;
    private final int leasesEnded;

    /** The faults of one kind. */
    static final class Kind {
        int count;
        int landed;
        int ended;
        final List<Long> recoveryNanos = new ArrayList<>();

        /** A quantile of the recovery times in seconds; -1 if none was measured. */
        double seconds(double quantile) {
            if (recoveryNanos.isEmpty()) {
                return -1;
            }
            Collections.sort(recoveryNanos);
            int index = (int) Math.ceil(quantile * recoveryNanos.size()) - 1;
            return recoveryNanos.get(Math.max(0, index)) / 1e9;
        }

        Map<String, Object> toJson() {
            Map<String, Object> json = new LinkedHashMap<>();
            json.put("count", count);
            json.put("landedInAHold", landed);
            json.put("leasesEnded", ended);
            json.put("recoverySecondsP50", seconds(0.5));
            json.put("recoverySecondsMax", seconds(1));
            return json;
        }
    }

    FaultFigures(History history, int locks, long ttlNanos) {
        entries = entries(history, locks);
        int[] ended = IntStream.range(0, history.size())
                .filter(section -> history.ended(section) != History.NEVER)
                .toArray();
        leasesEnded = ended.length;
        for (FaultWindow fault : history.faults()) {
            if (fault.isStall()) {
                continue;
            }
            Kind kind = kinds.computeIfAbsent(fault.kind(), key -> new Kind());
            if (fault.hasFailed()) {
                failed++;
            } else {
                count++;
            }
            kind.count++;
            if (fault.landed()) {
                landed++;
                kind.landed++;
            }
            kind.ended += (int) IntStream.of(ended)
                    .filter(section -> fault.hurts(history.client(section), history.lock(section)))
                    .filter(section -> history.ended(section) >= fault.from()
                            && history.ended(section) <= fault.until() + ttlNanos)
                    .count();
            long recovered = allEnteredAfter(fault.until());
            if (recovered != Long.MAX_VALUE) {
                kind.recoveryNanos.add(recovered - fault.until());
            }
        }
    }

    /** When each lock was entered, in order. */
    private static long[][] entries(History history, int locks) {
        int[] counts = new int[locks];
        int[] entered = IntStream.range(0, history.size())
                .filter(section -> history.lock(section) < locks && history.wasEntered(section))
                .toArray();
        for (int section : entered) {
            counts[history.lock(section)]++;
        }
        long[][] entries = new long[locks][];
        for (int lock = 0; lock < locks; lock++) {
            entries[lock] = new long[counts[lock]];
        }
        for (int section : entered) {
            int lock = history.lock(section);
            entries[lock][--counts[lock]] = history.entered(section);
        }
        for (long[] each : entries) {
            Arrays.sort(each);
        }
        return entries;
    }

    /** When every lock had been entered again after a time; the end of time if one was not. */
    long allEnteredAfter(long stamp) {
        long last = stamp;
        for (long[] each : entries) {
            int found = Arrays.binarySearch(each, stamp);
            int next = found < 0 ? -found - 1 : found;
            last = next == each.length ? Long.MAX_VALUE : Math.max(last, each[next]);
        }
        return last;
    }

    /** How many were injected. */
    int count() {
        return count;
    }

    /** How many could not be injected, or were not confirmed. */
    int failed() {
        return failed;
    }

    /** The number of leases that ended while a client was inside, whatever ended them. */
    int leasesEnded() {
        return leasesEnded;
    }

    int landed() {
        return landed;
    }

    Map<String, Kind> kinds() {
        return Collections.unmodifiableMap(kinds);
    }
}
