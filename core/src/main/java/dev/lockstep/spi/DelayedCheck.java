package dev.lockstep.spi;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Checks each item once, 10 to 20 milliseconds after it was added. It is for things that are nearly always over by then,
 * such as a short hold or a request that was answered: an item costs a place in a list instead of a timer of its own. The
 * check itself has to find out whether the item is over.
 *
 * <p>Safe for use by many threads.
 *
 * @param <T> the type of the items
 */
public final class DelayedCheck<T> {
    private static final long NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private final Scheduler scheduler;
    private final Consumer<? super T> check;
    private List<T> fresh = new ArrayList<>(); // guarded by this, as all that follows
    private List<T> older = new ArrayList<>();
    private boolean ticking;

    /**
     * Creates one.
     *
     * @param scheduler whose timer it uses, while there are items
     * @param check is called with each item, on the scheduler's thread; must not block
     */
    public DelayedCheck(Scheduler scheduler, Consumer<? super T> check) {
        this.scheduler = scheduler;
        this.check = check;
    }

    /**
     * Adds an item, which is checked 10 to 20 milliseconds from now.
     *
     * @param item the item
     */
    public synchronized void add(T item) {
        fresh.add(item);
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
        due.forEach(check);
    }
}
