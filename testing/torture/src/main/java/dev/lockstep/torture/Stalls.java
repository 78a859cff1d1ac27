package dev.lockstep.torture;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;

/*
 * Overview. A thread asks to be woken in two milliseconds, again and again. If it comes late by more than the machine's
 * usual lateness, this process was paused: it was stopped, or got no processor time. Such stalls are not the engine's
 * fault, so times that a rule sets are measured without them. They are reported too: a run with many has shown little.
 */
/** How long this JVM has been paused, in sum. Thread-safe. */
final class Stalls {
    private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(2);
    private static final long USUAL_NANOS = TimeUnit.MILLISECONDS.toNanos(5);
    private static final Stalls OF_THIS_JVM = new Stalls();

    private final List<Listener> listeners = new CopyOnWriteArrayList<>();
    private volatile long nanos;

    /** The listener that is notified of each stall. */
    private record Listener(long atLeastNanos, LongConsumer action) {}

    private Stalls() {
        Thread thread = new Thread(this::tick, "torture-stalls");
        thread.setDaemon(true);
        thread.setPriority(Thread.MAX_PRIORITY);
        thread.start();
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // this thread alone writes it
    private void tick() {
        long last = System.nanoTime();
        while (true) {
            LockSupport.parkNanos(TICK_NANOS);
            long now = System.nanoTime();
            long late = now - last - TICK_NANOS;
            if (late > USUAL_NANOS) {
                nanos += late;
                tell(late);
            }
            last = System.nanoTime();
        }
    }

    private void tell(long late) {
        for (Listener listener : listeners) {
            if (late >= listener.atLeastNanos) {
                try {
                    listener.action.accept(late);
                } catch (RuntimeException e) {
                    listeners.remove(listener); // no listener is there any more
                }
            }
        }
    }

    /** Calls an action after each stall of some length, until what this returns is closed. */
    static Listening listen(long atLeastNanos, LongConsumer action) {
        Listener listener = new Listener(atLeastNanos, action);
        OF_THIS_JVM.listeners.add(listener);
        return () -> OF_THIS_JVM.listeners.remove(listener);
    }

    /** Ends a listening. */
    interface Listening extends AutoCloseable {
        @Override
        void close();
    }

    /** The sum since some moment of the past. */
    static long nanos() {
        return OF_THIS_JVM.nanos;
    }

    /** Waits for a condition; false if it did not come true within a time in which this JVM was not paused. */
    static boolean untilAwake(BooleanSupplier condition, Duration patience) {
        long end = System.nanoTime() - nanos() + patience.toNanos();
        long left = patience.toNanos();
        while (!Parking.until(condition, Duration.ofNanos(left))) {
            left = end - (System.nanoTime() - nanos());
            if (left <= 0) {
                return false;
            }
        }
        return true;
    }
}
