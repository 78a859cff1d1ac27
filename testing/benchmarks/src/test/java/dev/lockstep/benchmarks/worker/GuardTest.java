package dev.lockstep.benchmarks.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.benchmarks.worker.Contender.Mutex;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GuardTest {
    @Test
    void lockThatExcludesLosesNothing(@TempDir Path folder) throws Exception {
        Mutex lock = Mutex.of(new ReentrantLock());

        assertThat(lostBy(lock, folder)).isZero();
    }

    @Test
    void lockThatDoesNotExcludeIsFoundOut(@TempDir Path folder) throws Exception {
        Mutex none = new Mutex() {
            @Override
            public void lock() {}

            @Override
            public void unlock() {}
        };

        assertThat(lostBy(none, folder)).isPositive();
    }

    private static double lostBy(Mutex mutex, Path folder) throws Exception {
        Path file = folder.resolve("guard");
        Worker worker = new Worker(url -> new Contender.Client() {
            @Override
            public Mutex mutex(String name) {
                return mutex;
            }

            @Override
            public void close() {}
        });
        Map<String, String> answer =
                worker.carryOut(Order.parse("pairs threads=4 names=one url=none lock=x millis=200 guard=" + file));
        try (Guard guard = new Guard(file)) {
            return Double.parseDouble(answer.getOrDefault("counted", "0")) - guard.count();
        }
    }
}
