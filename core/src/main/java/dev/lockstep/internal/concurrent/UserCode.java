package dev.lockstep.internal.concurrent;

import dev.lockstep.spi.Scheduler;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs users' code on the client's executor, where it may take its time. What that refuses, as when it was shut down, runs on
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

    @Override
    public void execute(Runnable task) {
        try {
            executor.execute(task);
        } catch (RejectedExecutionException e) {
            own().execute(task);
        }
    }

    private synchronized Executor own() {
        CallbackExecutor known = own;
        if (known == null) {
            log.warn("Client '{}': its executor refuses tasks; they run on threads of the client's own", clientName);
            known = new CallbackExecutor(clientName, scheduler);
            known.close(); // its threads end soon, and it takes tasks
            own = known;
        }
        return known;
    }
}
