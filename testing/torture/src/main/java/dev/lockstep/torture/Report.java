package dev.lockstep.torture;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToLongFunction;

/** The results of a run, in numbers. Immutable. */
public final class Report {
    private final String engine;
    private final Settings settings;
    private final long ttlNanos;
    private final long settleNanos;
    private final Observer observer;
    private final Verdict verdict;
    private final FaultFigures faults;
    private final long healed;
    private final double seconds;
    private final Pauses pauses;

    /** A line of the report: what was counted, and the count. */
    public record Row(String what, String count) {}

    /** For how many seconds the observer was paused, and the worker that was paused longest, on purpose or not. */
    record Pauses(double observer, double worker) {}

    Report(Rig rig, Settings settings, Observer observer, Verdict verdict, long healed, double seconds, Pauses pauses) {
        this.engine = rig.name();
        this.settings = settings;
        this.ttlNanos = rig.ttl().toNanos();
        this.settleNanos = rig.settle().toNanos();
        this.observer = observer;
        this.verdict = verdict;
        this.faults = new FaultFigures(observer.history(), settings.locks(), ttlNanos);
        this.healed = healed;
        this.seconds = seconds;
        this.pauses = pauses;
    }

    /**
     * Names the engine.
     *
     * @return its name
     */
    public String engine() {
        return engine;
    }

    /**
     * Returns whether every rule held that the engine promises.
     *
     * @return false if one was broken
     */
    public boolean holds() {
        return verdict.holds();
    }

    Verdict verdict() {
        return verdict;
    }

    boolean hasFair() {
        return observer.hasFair();
    }

    History history() {
        return observer.history();
    }

    FaultFigures faults() {
        return faults;
    }

    long ttlNanos() {
        return ttlNanos;
    }

    /** How many sections were entered. */
    long entered() {
        return observer.history().enteredCount();
    }

    /** How often permits were acquired. */
    long permits() {
        return observer.history().enteredCount(new Resources(settings.locks()).semaphore());
    }

    /** How many terms there were. */
    long terms() {
        return observer.history().enteredCount(new Resources(settings.locks()).election());
    }

    private long sum(ToLongFunction<Registers> figure) {
        return observer.registers().stream().mapToLong(figure).sum();
    }

    /** How long after the last fault every lock had been entered again, in seconds; -1 if one was not. */
    private double recovery() {
        long recovered = faults.allEnteredAfter(healed);
        return recovered == Long.MAX_VALUE ? -1 : (recovered - healed) / 1e9;
    }

    /**
     * The report as lines for people.
     *
     * @return what was counted, in the order in which it should be read
     */
    public List<Row> rows() {
        List<Row> rows = new ArrayList<>();
        rows.add(new Row(
                "processes × threads, locks",
                settings.workers() + " × " + settings.threads() + ", " + settings.locks()));
        rows.add(new Row(
                "ttl, length, seed",
                String.format(Locale.ROOT, "%.1f s, %.0f s, %d", ttlNanos / 1e9, seconds, settings.seed())));
        rows.add(new Row("calls, of which got the lock", observer.history().size() + ", " + entered()));
        rows.add(new Row("of these permits, terms", permits() + ", " + terms()));
        rows.add(new Row("faults, of which landed in a hold", faults.count() + ", " + faults.landed()));
        rows.add(new Row("leases that ended while somebody was inside", "" + faults.leasesEnded()));
        rows.add(new Row("clients closed in the middle of work", "" + observer.reopenedClients()));
        for (Rule rule : Rule.values()) {
            rows.add(new Row(rule.broken(), count(rule)));
        }
        rows.add(new Row("inside after the lease had ended, and another came", "" + verdict.overlapsAfterLease()));
        rows.add(new Row("writes, of which refused by token", sum(Registers::writes) + ", " + sum(Registers::refused)));
        rows.add(new Row(
                "updates lost: naive, deadline, fenced",
                sum(Registers::naiveLost) + ", " + sum(Registers::deadlineLost) + ", " + sum(Registers::fencedLost)));
        rows.add(new Row("every lock granted again after the last fault", shown(recovery())));
        rows.add(new Row(
                "paused: the observer, the worst worker", shown(pauses.observer()) + ", " + shown(pauses.worker())));
        return rows;
    }

    private String count(Rule rule) {
        long broken = verdict.broken(rule);
        String excused = verdict.excused(rule) == 0 ? "" : " (and " + verdict.excused(rule) + " where not promised)";
        if (!rule.isOfSections()) {
            return broken + excused;
        }
        String all = broken + " of " + verdict.checked(rule);
        return broken > 0 || verdict.checked(rule) == 0
                ? all + excused
                : String.format(Locale.ROOT, "%s, so below %.1e with 95 %% confidence%s", all, bound(rule), excused);
    }

    /** None of n seen means: with 95 % confidence, less than 3 in n happen. */
    private double bound(Rule rule) {
        return 3.0 / verdict.checked(rule);
    }

    static String shown(double seconds) {
        return seconds < 0 ? "-" : String.format(Locale.ROOT, "%.2f s", seconds);
    }

    /**
     * The report for programs: maps, lists, numbers and texts.
     *
     * @return a tree that any writer of JSON can write
     */
    public Map<String, Object> toJson() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("engine", engine);
        json.put("holds", holds());
        json.put("seed", settings.seed());
        json.put("workers", settings.workers());
        json.put("threads", settings.threads());
        json.put("locks", settings.locks());
        json.put("ttlSeconds", ttlNanos / 1e9);
        json.put("seconds", seconds);
        json.put("calls", observer.history().size());
        json.put("sections", entered());
        json.put("permits", permits());
        json.put("terms", terms());
        json.put("leasesEnded", faults.leasesEnded());
        json.put("clientsReopened", observer.reopenedClients());
        Map<String, Object> rules = new LinkedHashMap<>();
        for (Rule rule : Rule.values()) {
            Map<String, Object> figures = new LinkedHashMap<>();
            figures.put("broken", verdict.broken(rule));
            figures.put("excused", verdict.excused(rule));
            figures.put("excusedBy", verdict.excusedBy(rule));
            if (rule.isOfSections()) {
                figures.put("checked", verdict.checked(rule));
                boolean bounded = verdict.broken(rule) == 0 && verdict.checked(rule) > 0;
                figures.put("upperBound95", bounded ? bound(rule) : null);
            }
            figures.put(
                    "examples",
                    verdict.examples(rule).stream().map(Violation::text).toList());
            rules.put(rule.name().toLowerCase(Locale.ROOT), figures);
        }
        json.put("rules", rules);
        json.put("overlapsAfterLease", verdict.overlapsAfterLease());
        json.put("writes", sum(Registers::writes));
        json.put("refusedByToken", sum(Registers::refused));
        json.put("naiveLost", sum(Registers::naiveLost));
        json.put("deadlineLost", sum(Registers::deadlineLost));
        json.put("fencedLost", sum(Registers::fencedLost));
        json.put("recoverySeconds", recovery());
        json.put("observerStalledSeconds", pauses.observer());
        json.put("workerStalledSeconds", pauses.worker());
        Map<String, Object> kinds = new LinkedHashMap<>();
        faults.kinds().forEach((kind, figures) -> kinds.put(kind, figures.toJson()));
        json.put("faults", kinds);
        return json;
    }

    /**
     * Writes down all that happened, so that the checker can be run again on it.
     *
     * @param file where to
     * @throws IOException if it cannot be written
     */
    public void writeHistory(Path file) throws IOException {
        HistoryFile.write(file, new HistoryFile(engine, settleNanos, observer.history()));
    }

    /**
     * The report as one page that needs nothing else, with pictures of the worst moments.
     *
     * @return HTML
     */
    public String toHtml() {
        return new Page(this).write();
    }

    /**
     * The faults by kind, for people.
     *
     * @return for each kind: name, count, how many landed in a hold, how many leases ended, median and longest recovery
     */
    public List<List<String>> faultRows() {
        List<List<String>> rows = new ArrayList<>();
        faults.kinds()
                .forEach((kind, figures) -> rows.add(List.of(
                        kind,
                        "" + figures.count,
                        "" + figures.landed,
                        "" + figures.ended,
                        shown(figures.seconds(0.5)),
                        shown(figures.seconds(1)))));
        return rows;
    }

    /** The broken rules, with examples. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(engine + ", seed " + settings.seed() + ":");
        for (Rule rule : Rule.values()) {
            for (Violation each : verdict.examples(rule)) {
                text.append("\n  ").append(each.line());
            }
        }
        return text.toString();
    }
}
