package dev.lockstep.memory;

import dev.lockstep.LossReason;
import dev.lockstep.spi.Scheduler;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The live sessions, by the engine's clock: ends a session that was not renewed for its ttl. Safe for use by many
 * threads.
 *
 * <p>The engine has no thread. Its one timer, at the earliest expiry, runs in the scheduler of one of the open clients,
 * and moves to another client's when that client closes. While no client is open, no call waits; sessions that expired
 * meanwhile are ended when a client opens.
 */
final class Sessions {
    private final Set<Session> sessions = new LinkedHashSet<>(); // guarded by this
    private final Set<MemoryBackend> hosts = new LinkedHashSet<>(); // guarded by this
    private Scheduler.@Nullable Timer timer; // guarded by this
    private long timerNanos; // guarded by this

    void attach(MemoryBackend host) {
        synchronized (this) {
            hosts.add(host);
        }
        endExpired();
    }

    synchronized void detach(MemoryBackend host) {
        hosts.remove(host);
        cancelTimer();
        startTimer();
    }

    synchronized void open(Session session, long now) {
        if (!session.open(now)) {
            return;
        }
        sessions.add(session);
        if (timer == null || session.expiryNanos() - timerNanos < 0) {
            cancelTimer();
            startTimer();
        }
    }

    /** Ends a session, and notifies its client that it has to open another. */
    void end(Session session, LossReason reason) {
        synchronized (this) {
            sessions.remove(session);
        }
        if (session.end()) {
            clear(session, reason);
        }
    }

    synchronized int count() {
        return sessions.size();
    }

    private void endExpired() {
        List<Session> expired = new ArrayList<>();
        synchronized (this) {
            if (hosts.isEmpty()) {
                return;
            }
            long now = hosts.iterator().next().scheduler().nanoTime();
            sessions.removeIf(session -> session.endIfExpired(now) && expired.add(session));
            cancelTimer();
            startTimer();
        }
        for (Session session : expired) {
            clear(session, LossReason.SESSION_ENDED);
        }
    }

    private static void clear(Session session, LossReason reason) {
        MemoryBackend backend = session.backend();
        backend.table().endSession(session, reason);
        backend.link().toClient(() -> backend.sessionLost(session));
    }

    private synchronized void startTimer() {
        if (hosts.isEmpty() || sessions.isEmpty()) {
            return;
        }
        Scheduler host = hosts.iterator().next().scheduler();
        long now = host.nanoTime();
        long delay = Long.MAX_VALUE;
        for (Session session : sessions) {
            delay = Math.min(delay, session.expiryNanos() - now);
        }
        timerNanos = now + delay;
        timer = host.schedule(Math.max(delay, 0), this::endExpired);
    }

    private synchronized void cancelTimer() {
        if (timer != null) {
            timer.cancel();
            timer = null;
        }
    }
}
