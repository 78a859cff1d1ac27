package dev.lockstep.benchmarks.worker;

import dev.lockstep.benchmarks.worker.Contender.Client;
import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Many locks held at once, for as long as the process lives. */
final class Held {
    private static final int THREADS = 16;

    private Held() {}

    /** Takes the locks; the threads that took them stay, as owners do. */
    static Map<String, String> take(Order order, Client client, int holders) throws Exception {
        int threads = Math.min(holders, THREADS);
        int locks = order.number("locks");
        long before = heap();
        Crew crew = new Crew();
        CountDownLatch taken = new CountDownLatch(threads);
        for (int i = 0; i < threads; i++) {
            int from = i;
            crew.add(() -> {
                for (int lock = from; lock < locks; lock += threads) {
                    client.mutex(order.text("lock") + "-" + lock).lock();
                }
                taken.countDown();
                Pause.forEver();
                return null;
            });
        }
        crew.go();
        while (!taken.await(1, TimeUnit.SECONDS)) {
            crew.check();
        }
        return Map.of("heap", Double.toString((heap() - before) / 1e6));
    }

    /** Holds them for a while. */
    static Map<String, String> hold(Order order) throws InterruptedException {
        long cpu = ProcessCpu.nanos();
        long before = System.nanoTime();
        Pause.millis(order.number("millis"));
        double used = 100.0 * (ProcessCpu.nanos() - cpu) / (System.nanoTime() - before);
        return Map.of("cpu", Double.toString(used));
    }

    private static long heap() {
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }
}
