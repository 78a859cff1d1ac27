package dev.lockstep.benchmarks.worker;

import dev.lockstep.benchmarks.worker.Contender.Client;
import dev.lockstep.benchmarks.worker.Contender.Mutex;
import java.nio.file.Path;
import java.util.Map;

/** Many threads of one client wait for a lock that another client holds. Measured is the time until each has had it. */
final class Crowd {
    private Crowd() {}

    static Map<String, String> run(Order order, Client holder, Client crowd) throws Exception {
        int threads = order.number("threads");
        Mutex held = holder.mutex(order.text("lock"));
        Mutex wanted = crowd.mutex(order.text("lock"));
        try (Guard guard = new Guard(Path.of(order.text("guard")))) {
            held.lock();
            Crew crew = new Crew();
            for (int i = 0; i < threads; i++) {
                crew.add(() -> {
                    wanted.lock();
                    guard.write();
                    wanted.unlock();
                    return null;
                });
            }
            crew.go();
            Pause.millis(order.number("settle"));
            long before = System.nanoTime();
            held.unlock();
            crew.join();
            return Map.of(
                    "ms", Double.toString((System.nanoTime() - before) / 1e6), "counted", Integer.toString(threads));
        }
    }
}
