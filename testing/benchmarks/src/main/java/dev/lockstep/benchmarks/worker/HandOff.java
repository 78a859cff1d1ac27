package dev.lockstep.benchmarks.worker;

import dev.lockstep.benchmarks.worker.Contender.Client;
import dev.lockstep.benchmarks.worker.Contender.Mutex;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Two clients in turn: one holds the lock, the other waits for it. Measured is the time from the holder's call of release
 * until the waiter's call has returned.
 */
final class HandOff {
    private HandOff() {}

    /** The messages between the two threads. */
    private static final class Talk {
        private final Semaphore coming = new Semaphore(0);
        private final Semaphore has = new Semaphore(0);
        private final long end;
        private final long settleMillis;
        private volatile long releasedNanos;
        private volatile boolean over;
        private final Samples samples = new Samples(); // of the holder

        Talk(long end, long settleMillis) {
            this.end = end;
            this.settleMillis = settleMillis;
        }
    }

    static Map<String, String> run(Order order, Client one, Client two) throws Exception {
        String name = order.text("lock");
        Mutex first = one.mutex(name);
        Mutex second = two.mutex(name);
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(order.number("millis"));
        Talk talk = new Talk(end, order.number("settle"));
        try (Guard guard = new Guard(Path.of(order.text("guard")))) {
            Crew crew = new Crew();
            first.lock();
            first.unlock(); // connected, and the name seen
            crew.add(() -> play(first, talk, guard, true));
            crew.add(() -> play(second, talk, guard, false));
            crew.go();
            crew.join();
            return Map.of(
                    "counted", Long.toString(talk.samples.count()),
                    "p50", Double.toString(talk.samples.millis(0.5)),
                    "p99", Double.toString(talk.samples.millis(0.99)));
        }
    }

    private static Void play(Mutex lock, Talk talk, Guard guard, boolean begins) throws Exception {
        if (begins) {
            lock.lock();
            talk.has.release();
        } else {
            talk.has.acquire();
        }
        boolean holding = begins;
        while (true) {
            if (holding) {
                guard.write();
                talk.coming.acquire();
                Pause.millis(talk.settleMillis); // the other's claim is on its way to the engine
                talk.over = System.nanoTime() >= talk.end;
                talk.releasedNanos = System.nanoTime();
                lock.unlock();
                talk.has.acquire();
            } else {
                talk.coming.release();
                lock.lock();
                talk.samples.add(System.nanoTime() - talk.releasedNanos);
                talk.has.release();
            }
            holding = !holding;
            if (talk.over) {
                if (holding) {
                    lock.unlock();
                }
                return null;
            }
        }
    }
}
