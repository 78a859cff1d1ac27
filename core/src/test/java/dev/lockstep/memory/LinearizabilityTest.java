package dev.lockstep.memory;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.internal.turnstile.SimClients;
import dev.lockstep.spi.Scheduler;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jetbrains.lincheck.datastructures.BooleanGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Data that a lock guards behaves as if one thread used it, whatever the threads' order: checked by Lincheck, which
 * tries the orders of small scenarios one by one. Runs in a JVM of its own, since Lincheck changes classes as they are
 * loaded.
 */
@Tag("soak")
class LinearizabilityTest {
    /** Each of them takes a minute or more. */
    private static final int ROUNDS = 2;

    @Test
    void ofThreadsOfOneClient() {
        modelCheck(OneClient.class);
    }

    @Test
    void ofTwoClients() {
        modelCheck(TwoClients.class);
    }

    private static void modelCheck(Class<?> guarded) {
        new ModelCheckingOptions()
                .iterations(ROUNDS)
                .invocationsPerIteration(60)
                .threads(2)
                .actorsBefore(1)
                .actorsPerThread(2)
                .actorsAfter(1)
                .sequentialSpecification(Counter.class)
                .check(guarded);
    }

    /** The expected results: each operation adds one, and every token is above the one before. */
    public static class Counter {
        private int count;

        public int lock(boolean first) {
            return ++count;
        }

        public int timed(boolean first) {
            return ++count;
        }

        public int reenter(boolean first) {
            return ++count;
        }

        public int token(boolean first) {
            return ++count;
        }
    }

    /** A plain counter that only locks guard. */
    public static class TwoClients {
        private final DistributedLock[] locks = new DistributedLock[2];
        private int count;
        private long lastToken;

        public TwoClients() {
            this(2);
        }

        TwoClients(int clients) {
            MemoryEngine engine = new MemoryEngine();
            Scheduler time = new StandingClock();
            DistributedLock[] made = new DistributedLock[clients];
            for (int i = 0; i < clients; i++) {
                LockClient client = SimClients.open(
                        engine,
                        Duration.ofSeconds(30),
                        Duration.ofSeconds(5),
                        time,
                        Runnable::run,
                        "client" + i,
                        List.of());
                made[i] = client.lock("a");
            }
            locks[0] = made[0];
            locks[1] = made[clients - 1];
        }

        private DistributedLock of(boolean first) {
            return locks[first ? 0 : 1];
        }

        @Operation
        public int lock(@Param(gen = BooleanGen.class) boolean first) {
            DistributedLock lock = of(first);
            lock.lock();
            try {
                return ++count;
            } finally {
                lock.unlock();
            }
        }

        @Operation
        public int timed(@Param(gen = BooleanGen.class) boolean first) throws InterruptedException {
            DistributedLock lock = of(first);
            if (!lock.tryLock(1000, TimeUnit.DAYS)) {
                return -1;
            }
            try {
                return ++count;
            } finally {
                lock.unlock();
            }
        }

        @Operation
        public int reenter(@Param(gen = BooleanGen.class) boolean first) {
            DistributedLock lock = of(first);
            lock.lock();
            lock.lock();
            try {
                lock.unlock();
                return ++count;
            } finally {
                lock.unlock();
            }
        }

        @Operation
        public int token(@Param(gen = BooleanGen.class) boolean first) throws InterruptedException {
            try (Lease lease = of(first).acquire()) {
                long token = lease.token();
                boolean rises = token > lastToken;
                lastToken = token;
                count++;
                return rises ? count : -1;
            }
        }
    }

    /** Time that does not pass: no timer ever fires, so that threads decide everything. */
    static final class StandingClock implements Scheduler {
        @Override
        public long nanoTime() {
            return 0;
        }

        @Override
        public Timer schedule(long delayNanos, Runnable task) {
            return () -> {};
        }
    }

    /** The same with both locks in one client. */
    public static class OneClient extends TwoClients {
        public OneClient() {
            super(1);
        }
    }
}
