package dev.lockstep.internal.concurrent;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A mutex, and what its holder puts off until it is left: calls of backends, listeners and futures. */
public final class Mutex {
    private static final Logger log = LoggerFactory.getLogger(Mutex.class);

    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable List<Runnable> effects;

    public void enter() {
        lock.lock();
    }

    /** Puts something off. Only while inside. */
    public void later(Runnable effect) {
        if (effects == null) {
            effects = new ArrayList<>(4);
        }
        effects.add(effect);
    }

    /** Leaves, and does what was put off. */
    public void leave() {
        List<Runnable> due = effects;
        effects = null;
        lock.unlock();
        if (due != null) {
            due.forEach(Mutex::run);
        }
    }

    private static void run(Runnable effect) {
        try {
            effect.run();
        } catch (RuntimeException | Error e) {
            log.error("A deferred action failed", e);
        }
    }
}
