package dev.lockstep.internal.concurrent;

import dev.lockstep.spi.Scheduler;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs users' code on the client's executor, where it may take its time. What that refuses, for example after its shutdown, runs on
 * threads of the client's own: the thread that asks for it may be the one that brings the engine's answers, or the timers'.
 * Safe for use by many threads.
 */
public final class UserCode implements Executor {
    private static final Logger log = LoggerFactory.getLogger(UserCode.class);

    private final String clientName;
    private final Executor executor;
    private final Scheduler scheduler;
    private @Nullable CallbackExecutor own; // guarded by this; null until a task is refused

    public UserCode(String clientName, Executor executor, Scheduler scheduler) {
        this.clientName = clientName;
        this.executor = executor;
        this.scheduler = scheduler;
    }

    /** Never throws: the caller may be in the middle of a release, whose result must not be lost. */
    @Override
    public void execute(Runnable task) {
        Once once = new Once(task);
        try {
            executor.execute(once);
        } catch (RuntimeException | Error e) {
            if (once.get()) {
                log.error("Client '{}': a task of its executor failed", clientName, e);
            } else {
                own(e).execute(once);
            }
        }
    }

    /** Runs a task once: an executor may fail after it has taken it. True once it has begun. */
    private static final class Once extends AtomicBoolean implements Runnable {
        private static final long serialVersionUID = 1L;

        private final transient Runnable task;

        Once(Runnable task) {
            this.task = task;
        }

        @Override
        public void run() {
            if (compareAndSet(false, true)) {
                task.run();
            }
        }
    }

    private synchronized Executor own(Throwable refusal) {
        CallbackExecutor known = own;
        if (known == null) {
            log.warn(
                    "Client '{}': its executor refuses tasks ({}); they run on threads of the client's own",
                    clientName,
                    refusal.toString());
            known = new CallbackExecutor(clientName, scheduler);
            known.close(); // its threads end soon, and it takes tasks
            own = known;
        }
        return known;
    }
}
