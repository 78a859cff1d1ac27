package dev.lockstep.internal;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A mutex, and what its holder puts off until it is left: I/O, wake-ups, users' code. Users' code that others need not wait
 * for comes last: an executor may run it in the calling thread, and it may take its time.
 */
final class Mutex {
    private static final Logger log = LoggerFactory.getLogger(Mutex.class);

    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable List<Runnable> effects;
    private @Nullable List<Runnable> last;

    void enter() {
        lock.lock();
    }

    /** Puts something off. Only while inside. */
    void later(Runnable effect) {
        if (effects == null) {
            effects = new ArrayList<>(4);
        }
        effects.add(effect);
    }

    /** Puts off what may run users' code until all else is done. Only while inside. */
    void last(Runnable effect) {
        if (last == null) {
            last = new ArrayList<>(2);
        }
        last.add(effect);
    }

    /** Leaves, and does what was put off. */
    void leave() {
        List<Runnable> due = effects;
        List<Runnable> dueLast = last;
        effects = null;
        last = null;
        lock.unlock();
        if (due != null) {
            due.forEach(Mutex::run);
        }
        if (dueLast != null) {
            dueLast.forEach(Mutex::run);
        }
    }

    private static void run(Runnable effect) {
        try {
            effect.run();
        } catch (RuntimeException | Error e) {
            log.error("An effect failed", e);
        }
    }
}
