package dev.lockstep.console;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** How long callers waited, by prefix and minute, in waiter-seconds: the number of waiters times how long they were seen. Thread-safe. */
final class Heat {
    static final int MINUTES = 60;
    static final int MOST_PREFIXES = 200;
    static final String OTHERS = "…";

    /** A look says little about a longer time than this. */
    private static final Duration LONGEST_STEP = Duration.ofSeconds(30);

    private final Deque<Bucket> buckets = new ArrayDeque<>();
    private @Nullable Instant last;

    /** A minute: waiter-seconds by prefix. */
    private record Bucket(long minute, Map<String, Double> seconds) {}

    /**
     * A line of the picture.
     *
     * @param prefix the prefix
     * @param seconds waiter-seconds of each minute
     * @param total their sum
     */
    record Row(String prefix, List<Double> seconds, double total) {}

    /** The key that groups names: all up to and including the first of {@code : / .}, or the whole name. */
    static String prefix(String name) {
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            if (c == ':' || c == '/' || c == '.') {
                return name.substring(0, i + 1);
            }
        }
        return name;
    }

    synchronized void add(Sample sample) {
        Instant before = last;
        last = sample.at();
        if (before == null || !before.isBefore(sample.at())) {
            return;
        }
        Duration step = Duration.between(before, sample.at());
        double seconds = (step.compareTo(LONGEST_STEP) > 0 ? LONGEST_STEP : step).toMillis() / 1e3;
        Map<String, Double> bucket = bucket(sample.at().getEpochSecond() / 60);
        for (Located lock : sample.locks()) {
            int waiters = lock.info().waiters().size();
            if (waiters > 0) {
                String prefix = prefix(lock.info().name());
                boolean known = bucket.containsKey(prefix) || bucket.size() < MOST_PREFIXES;
                bucket.merge(known ? prefix : OTHERS, waiters * seconds, Double::sum);
            }
        }
    }

    private Map<String, Double> bucket(long minute) {
        Bucket newest = buckets.peekLast();
        if (newest == null || newest.minute() < minute) {
            newest = new Bucket(minute, new HashMap<>());
            buckets.addLast(newest);
        }
        while (buckets.element().minute() <= minute - MINUTES) {
            buckets.removeFirst();
        }
        return newest.seconds();
    }

    /** The minutes of the picture, as seconds since 1970, the oldest first; empty before the first sample. */
    synchronized List<Long> minutes() {
        Bucket newest = buckets.peekLast();
        List<Long> minutes = new ArrayList<>();
        for (int i = MINUTES - 1; newest != null && i >= 0; i--) {
            minutes.add((newest.minute() - i) * 60);
        }
        return minutes;
    }

    /** The hottest prefixes, the hottest first. */
    synchronized List<Row> rows(int most) {
        Bucket newest = buckets.peekLast();
        Map<String, double[]> byPrefix = new HashMap<>();
        for (Bucket bucket : buckets) {
            int place = newest == null ? 0 : (int) (MINUTES - 1 - (newest.minute() - bucket.minute()));
            bucket.seconds()
                    .forEach((prefix, seconds) ->
                            byPrefix.computeIfAbsent(prefix, unused -> new double[MINUTES])[place] = seconds);
        }
        List<Row> rows = new ArrayList<>();
        byPrefix.forEach((prefix, seconds) -> {
            List<Double> values = new ArrayList<>();
            double total = 0;
            for (double each : seconds) {
                values.add(Math.round(each * 10) / 10.0);
                total += each;
            }
            rows.add(new Row(prefix, values, Math.round(total * 10) / 10.0));
        });
        rows.sort((one, other) -> {
            int byTotal = Double.compare(other.total(), one.total());
            return byTotal != 0 ? byTotal : one.prefix().compareTo(other.prefix());
        });
        return rows.subList(0, Math.min(most, rows.size()));
    }
}
