package dev.lockstep.torture;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** How often each rule was broken, with the first examples. Not thread-safe. */
final class Verdict {
    private static final int EXAMPLES = 20;

    private final Map<Rule, Tally> tallies = new EnumMap<>(Rule.class);
    private final List<Incident> overlaps = new ArrayList<>();
    private long overlapsAfterLease;

    /** The results of one rule. */
    private static final class Tally {
        long broken;
        long checked;
        final Map<String, Long> excused = new TreeMap<>(); // by what
        final List<Violation> examples = new ArrayList<>();
    }

    void add(Violation violation) {
        Tally tally = tally(violation.rule());
        if (violation.isExcused()) {
            tally.excused.merge(violation.excuse(), 1L, Long::sum);
        } else {
            tally.broken++;
        }
        if (tally.examples.size() < EXAMPLES) {
            tally.examples.add(violation);
        }
    }

    /** So many sections more could have broken a rule where the engine promises to keep it. */
    void checked(Rule rule, long sections) {
        tally(rule).checked += sections;
    }

    /** How many sections could have broken a rule of sections where the engine promises to keep it. */
    long checked(Rule rule) {
        return tally(rule).checked;
    }

    private Tally tally(Rule rule) {
        return tallies.computeIfAbsent(rule, key -> new Tally());
    }

    void overlapAfterLease(Incident moment) {
        overlapsAfterLease++;
        if (overlaps.size() < EXAMPLES) {
            overlaps.add(moment);
        }
    }

    /** The worst moments: what was broken, then what was excused, then what no lock can prevent. */
    List<Incident> worst(int most) {
        List<Violation> examples = new ArrayList<>();
        tallies.values().forEach(tally -> examples.addAll(tally.examples));
        examples.sort(Comparator.comparing(Violation::isExcused));
        List<Incident> moments = new ArrayList<>();
        for (Violation each : examples) {
            if (each.lock() >= 0) {
                String excuse = each.isExcused() ? " (not promised in: " + each.excuse() + ")" : "";
                moments.add(new Incident(each.lock(), each.at(), each.rule().broken() + ": " + each.text() + excuse));
            }
        }
        moments.addAll(overlaps);
        return moments.subList(0, Math.min(most, moments.size()));
    }

    /** How often a client was still inside when its lease had ended and another's had begun: no lock can prevent it. */
    long overlapsAfterLease() {
        return overlapsAfterLease;
    }

    /** How often a rule was broken that the engine promises to keep. */
    long broken(Rule rule) {
        return tally(rule).broken;
    }

    /** How often a rule was broken in a fault in which the engine does not promise it. */
    long excused(Rule rule) {
        return excusedBy(rule).values().stream().mapToLong(Long::longValue).sum();
    }

    /** The same by the kinds of faults. */
    Map<String, Long> excusedBy(Rule rule) {
        return Collections.unmodifiableMap(tally(rule).excused);
    }

    List<Violation> examples(Rule rule) {
        return List.copyOf(tally(rule).examples);
    }

    boolean holds() {
        return tallies.values().stream().allMatch(tally -> tally.broken == 0);
    }
}
