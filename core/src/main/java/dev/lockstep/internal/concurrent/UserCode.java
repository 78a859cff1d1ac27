package dev.lockstep.internal.concurrent;

import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs users' code on the client's executor, where it may take its time. Safe for use by many threads. */
public final class UserCode implements Executor {
    private static final Logger log = LoggerFactory.getLogger(UserCode.class);

    private final String clientName;
    private final Executor executor;

    public UserCode(String clientName, Executor executor) {
        this.clientName = clientName;
        this.executor = executor;
    }

    @Override
    public void execute(Runnable task) {
        try {
            executor.execute(task);
        } catch (RejectedExecutionException e) {
            log.warn(
                    "Client '{}': its executor refuses tasks; running one in thread {}",
                    clientName,
                    Thread.currentThread().getName());
            task.run();
        }
    }
}
