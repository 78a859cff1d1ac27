package dev.lockstep.redis;

import dev.lockstep.LockUnavailableException;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.LockBackend;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import javax.net.ssl.SSLException;

/** Connects again while a server is away: one that restarts is back in a moment. Tries begin within the request timeout. */
final class Opening {
    private Opening() {}

    /** Opens a backend; throws what the last try threw. */
    static LockBackend of(BackendContext context, Supplier<LockBackend> open) {
        long end = context.scheduler().nanoTime() + context.requestTimeout().toNanos();
        for (int failures = 1; ; failures++) {
            try {
                return open.get();
            } catch (LockUnavailableException e) {
                long delay = context.retryBackoff().delay(failures).toNanos();
                boolean late = context.scheduler().nanoTime() + delay - end >= 0;
                if (late || isOfTls(e) || Thread.currentThread().isInterrupted()) {
                    throw e;
                }
                LockSupport.parkNanos(delay);
            }
        }
    }

    /** A certificate is not better the next time. */
    private static boolean isOfTls(Throwable thrown) {
        for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
            if (cause instanceof SSLException) {
                return true;
            }
        }
        return false;
    }
}
