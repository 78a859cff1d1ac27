package dev.lockstep.jdbc;

import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.Scheduler;
import java.sql.SQLException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Cleans up leftovers: sessions that have expired, locks and claims of sessions that are gone, and names that have not
 * been used for long. One client cleans up in each period, whichever asks first. Exclusion does not depend on it: a
 * claim that needs a lock of a dead session takes it itself.
 */
final class Cleaner implements AutoCloseable {
    private final JdbcBackend backend;
    private final long periodNanos;
    private final long idleMicros;
    private volatile boolean closed;
    private volatile Scheduler.@Nullable Timer timer;

    Cleaner(JdbcBackend backend, BackendContext context, Duration idleNames) {
        this.backend = backend;
        this.periodNanos = context.ttl().toNanos();
        this.idleMicros = idleNames.toNanos() / 1_000;
        schedule();
    }

    private void schedule() {
        if (!closed) {
            timer = backend.requests()
                    .later(periodNanos, () -> backend.requests().run(Duration.ZERO, this::run, () -> {}));
        }
    }

    private void run() {
        try {
            if (!closed && backend.requests().call(link -> backend.store().electSweeper(link, periodNanos / 1_000))) {
                sweep();
            }
        } catch (SQLException | RuntimeException e) {
            backend.log().debug("The clean-up failed; another client does it, or this one the next time", e);
        } finally {
            schedule();
        }
    }

    /** Each step is a request of its own, so that none keeps a connection for long. */
    void sweep() throws SQLException {
        Store store = backend.store();
        for (String session : backend.requests().call(store::expiredSessions)) {
            step(() -> backend.requests().call(link -> store.endExpiredSession(link, session)));
        }
        for (Store.Orphan orphan : backend.requests().call(store::orphans)) {
            step(() -> backend.requests().call(link -> store.evict(link, orphan.key(), orphan.session())));
        }
        for (String key : backend.requests().call(link -> store.idleKeys(link, idleMicros))) {
            step(() -> backend.requests().call(link -> store.removeIdle(link, key, idleMicros)));
        }
    }

    /** One step of the cleaning. */
    @FunctionalInterface
    private interface Step {
        boolean run() throws SQLException;
    }

    private void step(Step step) {
        backend.requests()
                .run(
                        Duration.ZERO,
                        () -> {
                            try {
                                if (!closed) {
                                    step.run();
                                }
                            } catch (SQLException | RuntimeException e) {
                                backend.log().debug("A step of the clean-up failed; the next one repeats it", e);
                            }
                        },
                        () -> {});
    }

    @Override
    public void close() {
        closed = true;
        Scheduler.Timer known = timer;
        if (known != null) {
            known.cancel();
        }
    }
}
