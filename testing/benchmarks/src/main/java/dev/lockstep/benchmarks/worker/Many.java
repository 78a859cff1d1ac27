package dev.lockstep.benchmarks.worker;

import dev.lockstep.benchmarks.worker.Contender.Client;
import dev.lockstep.benchmarks.worker.Contender.Mutex;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/** Many locks taken together by one thread, and released, again and again. Measured is the time until it has all of them. */
final class Many {
    private Many() {}

    static Map<String, String> run(Order order, Client client) throws Exception {
        List<String> names = IntStream.range(0, order.number("names"))
                .mapToObj(number -> order.text("lock") + "-" + number)
                .toList();
        Mutex locks = client.multiMutex(names);
        List<Double> millis = new ArrayList<>();
        long cpu = ProcessCpu.nanos();
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(order.number("millis"));
        do {
            long before = System.nanoTime();
            locks.lock();
            millis.add((System.nanoTime() - before) / 1e6);
            locks.unlock();
        } while (System.nanoTime() < end);
        Collections.sort(millis);
        return Map.of(
                "ms", Double.toString(millis.get(millis.size() / 2)),
                "all", Integer.toString(millis.size()),
                "cpuMicros", Double.toString((ProcessCpu.nanos() - cpu) / 1e3));
    }
}
