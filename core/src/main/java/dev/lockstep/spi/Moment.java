package dev.lockstep.spi;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Calls back for each thing when it has been there for a moment, 10 to 20 milliseconds. For what is nearly always over by
 * then, such as a short hold or an answered request: it costs a place in a list and not a timer of its own. Whether it is
 * over is the callee's to see.
 *
 * <p>Safe for use by many threads.
 *
 * @param <T> the kind of thing
 */
public final class Moment<T> {
    private static final long NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private final Scheduler scheduler;
    private final Consumer<? super T> then;
    private List<T> fresh = new ArrayList<>(); // guarded by this, as all that follows
    private List<T> older = new ArrayList<>();
    private boolean ticking;

    /**
     * Makes one.
     *
     * @param scheduler whose timer it uses, while there is something to call back for
     * @param then what is called, on the scheduler's thread; must not block
     */
    public Moment(Scheduler scheduler, Consumer<? super T> then) {
        this.scheduler = scheduler;
        this.then = then;
    }

    /**
     * Calls back for a thing, a moment from now.
     *
     * @param thing what is given to the callee
     */
    public synchronized void add(T thing) {
        fresh.add(thing);
        if (!ticking) {
            ticking = true;
            scheduler.schedule(NANOS, this::tick);
        }
    }

    private void tick() {
        List<T> due;
        synchronized (this) {
            due = older;
            older = fresh;
            fresh = new ArrayList<>();
            ticking = !older.isEmpty();
            if (ticking) {
                scheduler.schedule(NANOS, this::tick);
            }
        }
        due.forEach(then);
    }
}
