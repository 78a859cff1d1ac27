package dev.lockstep.benchmarks.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.benchmarks.worker.Contender.Mutex;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GuardTest {
    @TempDir
    private Path folder;

    @Test
    void lockThatExcludesLosesNothing() throws Exception {
        Mutex lock = Mutex.of(new ReentrantLock());

        assertThat(lostBy(lock)).isZero();
    }

    @Test
    void lockThatDoesNotExcludeIsFoundOut() throws Exception {
        Mutex none = new Mutex() {
            @Override
            public void lock() {}

            @Override
            public void unlock() {}
        };

        assertThat(lostBy(none)).isPositive();
    }

    private double lostBy(Mutex mutex) throws Exception {
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
            return Double.parseDouble(answer.get("counted")) - guard.count();
        }
    }
}
