package dev.lockstep.benchmarks;

import static dev.lockstep.benchmarks.Engine.ETCD;
import static dev.lockstep.benchmarks.Engine.MARIADB;
import static dev.lockstep.benchmarks.Engine.MYSQL;
import static dev.lockstep.benchmarks.Engine.POSTGRESQL;
import static dev.lockstep.benchmarks.Engine.REDIS;
import static dev.lockstep.benchmarks.Engine.ZOOKEEPER;

import dev.lockstep.benchmarks.Results.Sheet;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * The goal of Lockstep in a workload.
 *
 * @param text what it is
 * @param workload in which
 * @param limit the value to reach
 * @param atLeast whether more is better
 * @param actual how much it was; nothing if that was not measured
 */
record Goal(String text, Workload workload, double limit, boolean atLeast, Function<Sheet, Optional<Double>> actual) {

    /** How a goal was met. */
    record Outcome(Goal goal, double actual, boolean met) {}

    /** The goals of an engine that something was measured for. */
    static List<Outcome> outcomes(Results results) {
        List<Outcome> outcomes = new ArrayList<>();
        for (Goal goal : of(results)) {
            results.sheet(goal.workload)
                    .flatMap(goal.actual)
                    .filter(actual -> !actual.isNaN())
                    .ifPresent(actual -> outcomes.add(
                            new Outcome(goal, actual, goal.atLeast ? actual >= goal.limit : actual <= goal.limit)));
        }
        return outcomes;
    }

    private static List<Goal> of(Results results) {
        Engine engine = results.kind();
        List<Goal> goals = new ArrayList<>();
        goals.add(times(Workload.W1, Entrant.FLOOR, 0.9));
        goals.add(times(Workload.W2, Entrant.FLOOR, engine == REDIS ? 0.75 : 0.9));
        goals.add(
                new Goal("sticky, times the best peer", Workload.W1, 100, true, sheet -> best(sheet, Entrant.STICKY)));
        goals.add(timesBest(Workload.W3, 20));
        goals.add(timesBest(Workload.W6, 3));
        if (engine != Engine.MEMORY) {
            goals.add(new Goal(
                    "largest share of a process over the smallest",
                    Workload.W4,
                    1.3,
                    false,
                    sheet -> sheet.cell(Entrant.LOCKSTEP)
                            .map(cell -> cell.spread(Measure.SHARE).median())));
        }
        goals.addAll(ofEngine(engine));
        results.sheets().forEach(sheet -> goals.addAll(ahead(sheet, goals)));
        return goals;
    }

    /** Ahead of every peer for which there is no other goal. */
    private static List<Goal> ahead(Sheet sheet, List<Goal> others) {
        return sheet.cells().stream()
                .filter(cell -> cell.kind() == Entrant.Kind.PEER && sheet.kind() != Workload.W7)
                .map(cell -> times(sheet.kind(), cell.name(), 1))
                .filter(goal -> others.stream()
                        .noneMatch(other -> other.workload == goal.workload && other.text.equals(goal.text)))
                .toList();
    }

    private static List<Goal> ofEngine(Engine engine) {
        List<Goal> goals = new ArrayList<>();
        if (engine == REDIS) {
            goals.add(times(Workload.W1, Entrant.REDISSON, 1.3));
            goals.add(times(Workload.W2, Entrant.REDISSON, 4));
            goals.add(times(Workload.W4, Entrant.REDISSON, 10));
            goals.add(atMost(Workload.W5, Measure.P50, 0.4));
            goals.add(timesBest(Workload.W5, 2));
            goals.add(atMost(Workload.MULTI1000, Measure.MILLIS, 20));
            goals.add(atMost(Workload.MULTI200000, Measure.MILLIS, 10_000));
            goals.add(
                    atMost(Workload.W7, Measure.RATE, 2.2)); // a command for 500 of 10,000 locks each 10 s, and a tenth
        }
        if (engine == ZOOKEEPER) {
            goals.add(times(Workload.W4, Entrant.CURATOR, 10));
            goals.add(times(Workload.W5, Entrant.CURATOR, 1 / 0.85));
            goals.add(times(Workload.W9A, Entrant.CURATOR, 1 / 0.72));
        }
        if (engine == ETCD) {
            goals.add(atMost(Workload.W9B, Measure.P50, 13)); // a round trip of 10 ms, and what is done at its ends
            goals.add(times(Workload.W4, Entrant.JETCD, 10));
            goals.add(timesBest(Workload.W5, 5));
        }
        if (engine == POSTGRESQL || engine == MARIADB || engine == MYSQL) {
            goals.add(times(Workload.W2, Entrant.SPRING_JDBC, 2));
            goals.add(times(Workload.W4, Entrant.SPRING_JDBC, engine.isPolled() ? 8 : 10));
        }
        if (engine.isPolled()) {
            goals.add(atMost(Workload.W5, Measure.P50, 3));
        }
        if (engine == POSTGRESQL) {
            goals.add(timesBest(Workload.W5, 5));
        }
        if (engine == ZOOKEEPER || engine == ETCD || engine == POSTGRESQL || engine.isPolled()) {
            goals.add(atMost(Workload.W7, Measure.RATE, 2)); // one session's
        }
        return goals;
    }

    private static Goal times(Workload workload, String other, double limit) {
        return new Goal(
                "times " + other,
                workload,
                limit,
                true,
                sheet -> sheet.advantage(Entrant.LOCKSTEP, other).map(Spread::median));
    }

    private static Goal timesBest(Workload workload, double limit) {
        return new Goal("times the best peer", workload, limit, true, sheet -> best(sheet, Entrant.LOCKSTEP));
    }

    private static Goal atMost(Workload workload, Measure measure, double limit) {
        return new Goal(
                measure.title,
                workload,
                limit,
                false,
                sheet -> sheet.cell(Entrant.LOCKSTEP)
                        .map(cell -> cell.spread(measure).median()));
    }

    private static Optional<Double> best(Sheet sheet, String mine) {
        return sheet.bestPeer()
                .flatMap(peer -> sheet.advantage(mine, peer.name()))
                .map(Spread::median);
    }
}
