package dev.lockstep.micrometer;

import dev.lockstep.LockClient;
import dev.lockstep.LockInfo;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks the engine for the holder of a lock that a call waits for, beside the call: by one thread, which is there only
 * while it is needed. Does not ask if too many wait for an answer. Safe for use by many threads.
 */
final class Holders {
    private static final Logger log = LoggerFactory.getLogger(Holders.class);
    private static final int QUEUED = 64;

    private final ThreadPoolExecutor asking = new ThreadPoolExecutor(
            1,
            1,
            1,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(QUEUED),
            task -> {
                Thread thread = new Thread(task, "lockstep-holders");
                thread.setDaemon(true);
                return thread;
            },
            new ThreadPoolExecutor.DiscardPolicy());
    private volatile @Nullable LockClient client;

    Holders() {
        asking.allowCoreThreadTimeOut(true);
    }

    void open(LockClient opened) {
        client = opened;
    }

    void close() {
        asking.shutdownNow();
    }

    /** Finds out who holds a lock; the action is not called if nobody does any more, or nobody knows. */
    void find(String lockName, Consumer<String> action) {
        LockClient asked = client;
        if (asked != null) {
            asking.execute(() -> ask(asked, lockName, action));
        }
    }

    private static void ask(LockClient asked, String lockName, Consumer<String> action) {
        try {
            LockInfo info = asked.inspect(lockName);
            if (!info.isFree()) {
                action.accept(info.holders().stream()
                        .map(entry -> entry.holder().toString())
                        .collect(Collectors.joining(", ")));
            }
        } catch (RuntimeException e) {
            log.debug("The holder of lock '{}' is unknown", lockName, e);
        }
    }
}
