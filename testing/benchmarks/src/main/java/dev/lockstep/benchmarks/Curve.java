package dev.lockstep.benchmarks;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.IntStream;

/** The number that grows, and the measures at each point. */
enum Curve {
    USES("one thread on one name, after so many uses of it", Measure.P50, 100, 100_000),
    NAMES("one thread on a new name, after so many names were used", Measure.P50, 160, 10_000_000),
    HELD("one thread on a name, while its client holds so many others", Measure.P50, 100, 100_000),
    WAITERS(
            "so many threads of one client wait for a lock; time for each until all have had it",
            Measure.MILLIS,
            10,
            10_000),
    PROCESSES("so many processes on one fair name", Measure.OPS, 2, 32),
    WAITING("so many clients wait for a lock that another one holds", Measure.SERVER_SHARE, 1, 1_000),
    CLIENTS("so many clients that each hold a lock", Measure.SERVER_SHARE, 10, 5_000);

    final String title;
    final Measure figure;
    private final int first;
    private final int last;

    Curve(String title, Measure figure, int first, int last) {
        this.title = title;
        this.figure = figure;
        this.first = first;
        this.last = last;
    }

    String id() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * The goal of Lockstep.
     *
     * @param upTo as long as there are no more than so many
     * @param value the least or the most of the curve's figure
     */
    record Limit(int upTo, double value) {}

    /** The goal of Lockstep on an engine; empty if the curve is only shown. */
    Optional<Limit> limit(Engine engine) {
        return switch (this) {
            case PROCESSES -> engine.isPolled() ? Optional.of(new Limit(16, 200)) : Optional.empty();
            case WAITING -> engine.isPolled() ? Optional.of(new Limit(100, 10)) : Optional.empty();
            case CLIENTS ->
                engine == Engine.REDIS || engine == Engine.ETCD || engine == Engine.ZOOKEEPER
                        ? Optional.of(new Limit(5_000, 20))
                        : Optional.empty();
            default -> Optional.empty();
        };
    }

    static Optional<Curve> of(String id) {
        return Arrays.stream(values()).filter(curve -> curve.id().equals(id)).findFirst();
    }

    /** The points, up to a limit and with it: powers of ten times the first, or of two where each is a process. */
    List<Integer> points(Engine engine, int most) {
        int factor = isOfProcesses() ? 2 : 10;
        int end = Math.min(most, last(engine));
        IntStream below = IntStream.iterate(first, n -> n < end, n -> n * factor);
        return IntStream.concat(below, IntStream.of(Math.max(first, end)))
                .boxed()
                .toList();
    }

    /** Where a curve ends on an engine: most of them would need hours for as many names as memory. */
    private int last(Engine engine) {
        if (this != NAMES || engine == Engine.MEMORY) {
            return last;
        }
        return engine == Engine.REDIS ? 1_000_000 : 100_000;
    }

    boolean isOfProcesses() {
        return this == PROCESSES;
    }
}
