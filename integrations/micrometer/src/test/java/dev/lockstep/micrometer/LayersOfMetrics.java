package dev.lockstep.micrometer;

import dev.lockstep.DistributedLock;
import dev.lockstep.LockClient;
import dev.lockstep.LockObserver;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * Measures of what the cost of metrics consists, for one thread and a lock of the memory engine that nobody else wants:
 * processor time of a pair of lock and unlock alone, with observers that do nothing, with nothing but the clock or the timers,
 * and with metrics. Each in JVMs of its own, in turn. Run by hand: {@code LayersOfMetrics [rounds]}.
 *
 * <p>Processor time of the thread, because other programs of the machine change it less than the time that passes.
 */
final class LayersOfMetrics {
    private static final int BATCH = 1_000;

    /** Batches of one measurement, and how many measurements come before those that count: they end with compiled code. */
    private static final int BATCHES = 500;

    private static final int WARM_UP = 10;
    private static final int COUNTED = 7;

    private LayersOfMetrics() {}

    private enum Layer {
        PAIR("lock and unlock alone"),
        NOTHING("with an observer that wants to know nothing of a call"),
        IDLE("with an observer of each call that does nothing"),
        CLOCK("without an observer, the clock read three times"),
        TIMERS("without an observer, two timers given a fixed time"),
        BOTH("without an observer, the clock read three times and two timers given the time"),
        METRICS("with LockMetrics");

        private final String words;

        Layer(String words) {
            this.words = words;
        }
    }

    /** Prints all rounds, and the medians. */
    public static void main(String[] arguments) throws Exception {
        if (arguments.length > 0 && arguments[0].equals("child")) {
            System.out.println(measure(Layer.valueOf(arguments[1])));
            return;
        }
        int rounds = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 9;
        Map<Layer, List<Double>> results = new EnumMap<>(Layer.class);
        List<Double> pairs = new ArrayList<>();
        for (int round = 0; round < rounds; round++) {
            for (Layer layer : Layer.values()) {
                double nanos = inJvmOfItsOwn(layer);
                results.computeIfAbsent(layer, each -> new ArrayList<>()).add(nanos);
                if (layer == Layer.PAIR) {
                    pairs.add(nanos);
                }
            }
        }
        double alone = median(pairs);
        results.forEach((layer, nanos) -> System.out.printf(
                Locale.ROOT,
                "%-8s %6.1f ns, %+6.1f ns, speed %3.0f %% (%s): %s%n",
                layer,
                median(nanos),
                median(nanos) - alone,
                100 * alone / median(nanos),
                layer.words,
                nanos.stream()
                        .map(each -> String.format(Locale.ROOT, "%.1f", each))
                        .collect(Collectors.joining(" "))));
    }

    private static double inJvmOfItsOwn(Layer layer) throws IOException, InterruptedException {
        Process child = new ProcessBuilder(
                        System.getProperty("java.home") + "/bin/java",
                        "-cp",
                        System.getProperty("java.class.path"),
                        LayersOfMetrics.class.getName(),
                        "child",
                        layer.name())
                .redirectError(Redirect.DISCARD)
                .start();
        String printed = new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (child.waitFor() != 0) {
            throw new IllegalStateException("No result for " + layer + ": " + printed);
        }
        return Double.parseDouble(printed.lines().reduce((first, last) -> last).orElseThrow());
    }

    /** Processor time of a pair, in nanoseconds: the median of several measurements. */
    private static double measure(Layer layer) {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        LockClient.Builder builder = LockClient.builder().url("memory:");
        switch (layer) {
            case NOTHING -> builder = builder.observer(new LockObserver() {});
            case IDLE -> builder = builder.observer(new Idle());
            case METRICS -> builder = builder.observer(new LockMetrics(registry));
            default -> {}
        }
        try (LockClient client = builder.connect()) {
            Runnable batch = batch(layer, client.lock("cost:1"), registry);
            List<Double> nanos = new ArrayList<>();
            for (int i = 0; i < WARM_UP + COUNTED; i++) {
                double took = nanosOfAPair(batch);
                if (i >= WARM_UP) {
                    nanos.add(took);
                }
            }
            return median(nanos);
        }
    }

    private static double nanosOfAPair(Runnable batch) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadCpuTime();
        for (int i = 0; i < BATCHES; i++) {
            batch.run();
        }
        return (double) (threads.getCurrentThreadCpuTime() - before) / BATCHES / BATCH;
    }

    private static Runnable batch(Layer layer, DistributedLock lock, SimpleMeterRegistry registry) {
        Timer acquire = registry.timer("bare.acquire");
        Timer hold = registry.timer("bare.hold");
        return switch (layer) {
            case CLOCK -> () -> clock(lock, registry);
            case TIMERS -> () -> timers(lock, acquire, hold);
            case BOTH -> () -> both(lock, registry, acquire, hold);
            default -> () -> pairs(lock);
        };
    }

    private static void pairs(DistributedLock lock) {
        for (int i = 0; i < BATCH; i++) {
            lock.lock();
            lock.unlock();
        }
    }

    /** Where the clock's values go, so that it is read. */
    private static long sum;

    private static void clock(DistributedLock lock, SimpleMeterRegistry registry) {
        for (int i = 0; i < BATCH; i++) {
            long start = registry.config().clock().monotonicTime();
            lock.lock();
            long held = registry.config().clock().monotonicTime();
            lock.unlock();
            sum += held - start + registry.config().clock().monotonicTime() - held;
        }
    }

    private static void timers(DistributedLock lock, Timer acquire, Timer hold) {
        for (int i = 0; i < BATCH; i++) {
            lock.lock();
            acquire.record(100, TimeUnit.NANOSECONDS);
            lock.unlock();
            hold.record(100, TimeUnit.NANOSECONDS);
        }
    }

    private static void both(DistributedLock lock, SimpleMeterRegistry registry, Timer acquire, Timer hold) {
        for (int i = 0; i < BATCH; i++) {
            long start = registry.config().clock().monotonicTime();
            lock.lock();
            long held = registry.config().clock().monotonicTime();
            acquire.record(held - start, TimeUnit.NANOSECONDS);
            lock.unlock();
            hold.record(registry.config().clock().monotonicTime() - held, TimeUnit.NANOSECONDS);
        }
    }

    private static double median(List<Double> values) {
        double[] sorted = values.stream().mapToDouble(Double::doubleValue).toArray();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }

    /** Makes one object for each call, as metrics do. */
    private static final class Idle implements LockObserver {
        @Override
        public CallObserver callStarted(Call call) {
            return new CallObserver() {};
        }
    }
}
