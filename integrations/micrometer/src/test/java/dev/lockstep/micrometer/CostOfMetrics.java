package dev.lockstep.micrometer;

import dev.lockstep.DistributedLock;
import dev.lockstep.LockClient;
import dev.lockstep.servers.RedisServer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;

/**
 * Measures what metrics cost: pairs of lock and unlock per second, without and with metrics in turn, in one process. Run by
 * hand: {@code CostOfMetrics redis|memory [rounds] [milliseconds]}. W1 is one thread on one name, W2
 * sixteen threads on a name each, as in docs/benchmarks.md.
 */
final class CostOfMetrics {
    private CostOfMetrics() {}

    /** Prints all rounds, and the medians. */
    public static void main(String[] arguments) throws Exception {
        int rounds = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 9;
        long millis = arguments.length > 2 ? Long.parseLong(arguments[2]) : 1_000;
        if (arguments[0].equals("memory")) {
            measure("memory:", rounds, millis);
        } else {
            try (RedisServer server = RedisServer.builder().start()) {
                measure(server.url(), rounds, millis);
            }
        }
    }

    private static void measure(String url, int rounds, long millis) throws Exception {
        try (LockClient plain = LockClient.connect(url);
                LockClient measured = LockClient.builder()
                        .url(url)
                        .observer(new LockMetrics(new SimpleMeterRegistry()))
                        .connect()) {
            for (int threads : new int[] {1, 16}) {
                for (int warmUp = 0; warmUp < 3; warmUp++) {
                    pairs(plain, "plain", threads, millis);
                    pairs(measured, "measured", threads, millis);
                }
                List<Double> without = new ArrayList<>();
                List<Double> with = new ArrayList<>();
                for (int round = 0; round < rounds; round++) {
                    without.add(pairs(plain, "plain", threads, millis));
                    with.add(pairs(measured, "measured", threads, millis));
                }
                System.out.printf(
                        Locale.ROOT,
                        "%s %s: without %s | with %s | medians %.0f and %.0f per second, %+.1f %%%n",
                        url.replaceAll(":.*", ""),
                        threads == 1 ? "W1" : "W2",
                        shown(without),
                        shown(with),
                        median(without),
                        median(with),
                        100 * (median(with) / median(without) - 1));
            }
        }
    }

    private static double pairs(LockClient client, String name, int threads, long millis) throws Exception {
        LongAdder pairs = new LongAdder();
        CountDownLatch go = new CountDownLatch(1);
        List<Thread> workers = new ArrayList<>();
        long[] end = {0};
        for (int i = 0; i < threads; i++) {
            DistributedLock lock = client.lock("cost:" + name + i);
            Thread worker = new Thread(() -> {
                try {
                    go.await();
                } catch (InterruptedException e) {
                    return;
                }
                long count = 0;
                while (System.nanoTime() < end[0]) {
                    lock.lock();
                    lock.unlock();
                    count++;
                }
                pairs.add(count);
            });
            workers.add(worker);
            worker.start();
        }
        long start = System.nanoTime();
        end[0] = start + millis * 1_000_000;
        go.countDown();
        for (Thread worker : workers) {
            worker.join();
        }
        return pairs.sum() * 1e9 / (System.nanoTime() - start);
    }

    private static String shown(List<Double> runs) {
        return runs.stream().map(run -> String.format(Locale.ROOT, "%.0f", run)).collect(Collectors.joining(" "));
    }

    private static double median(List<Double> runs) {
        double[] sorted = runs.stream().mapToDouble(Double::doubleValue).toArray();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }
}
