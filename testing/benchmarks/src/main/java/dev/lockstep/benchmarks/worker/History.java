package dev.lockstep.benchmarks.worker;

import dev.lockstep.benchmarks.worker.Contender.Client;
import dev.lockstep.benchmarks.worker.Contender.Mutex;
import java.util.Map;

/** Acquires and releases many locks as fast as possible, so that the server is not new any more. Nothing is measured. */
final class History {
    private History() {}

    static Map<String, String> run(Order order, Client client) throws Exception {
        int threads = order.number("threads");
        int names = order.number("names");
        if (names % threads != 0) {
            throw new IllegalArgumentException("threads that meet would wait for each other: " + order.line());
        }
        int pairs = order.number("pairs");
        Crew crew = new Crew();
        for (int i = 0; i < threads; i++) {
            int first = i;
            crew.add(() -> {
                for (int pair = first; pair < pairs; pair += threads) {
                    Mutex lock = client.mutex(order.text("lock") + "-" + pair % names);
                    lock.lock();
                    lock.unlock();
                }
                return null;
            });
        }
        crew.go();
        crew.join();
        return Map.of();
    }
}
