package dev.lockstep.internal.events;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.lockstep.DistributedLock;
import dev.lockstep.LockClient;
import dev.lockstep.LockObserver;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** An observer that wants to know nothing of a call costs next to nothing, and may want to know of the calls after it. */
class ObserverOfNothingTest {
    private static final int PAIRS = 10_000;

    /** Wants to know only of the locks of an asynchronous multi-lock after the first. */
    private record OnlyFurther(List<String> seen) implements LockObserver {
        @Override
        public CallObserver nextCallStarted(Call call, CallObserver first) {
            assertThat(first).isSameAs(CallObserver.NONE);
            String name = call.lockName();
            return new CallObserver() {
                @Override
                public void callEnded(CallEnd end) {
                    seen.add(name + " " + end.outcome());
                }

                @Override
                public void holdEnded(HoldEnd end) {
                    seen.add(name + " " + end.outcome());
                }
            };
        }
    }

    @Test
    void furtherCallsOfAMultiLockAreOfferedToIt() throws Exception {
        List<String> seen = new CopyOnWriteArrayList<>();
        try (LockClient client = LockClient.builder()
                .url("memory:further")
                .observer(new OnlyFurther(seen))
                .connect()) {
            client.multiLock("a", "b", "c")
                    .acquireAsync()
                    .get(20, TimeUnit.SECONDS)
                    .close();
        }
        assertThat(seen).containsExactlyInAnyOrder("b ACQUIRED", "c ACQUIRED", "b RELEASED", "c RELEASED");
    }

    /** The call itself, which the observer may keep, and nothing for its end or for the hold. */
    @Test
    void callIsOneObject() {
        try (LockClient plain = LockClient.connect("memory:plain");
                LockClient observed = LockClient.builder()
                        .url("memory:observed")
                        .observer(new LockObserver() {})
                        .connect()) {
            long without = bytesOfAPair(plain.lock("a"));
            long with = bytesOfAPair(observed.lock("a"));
            assertThat(with - without).isBetween(1L, 64L);
        }
    }

    private static long bytesOfAPair(DistributedLock lock) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long bytes = 0;
        for (int round = 0; round < 2; round++) { // the first loads classes
            long before = threads.getThreadAllocatedBytes(Thread.currentThread().getId());
            for (int i = 0; i < PAIRS; i++) {
                lock.lock();
                lock.unlock();
            }
            bytes = threads.getThreadAllocatedBytes(Thread.currentThread().getId()) - before;
        }
        return bytes / PAIRS;
    }
}
