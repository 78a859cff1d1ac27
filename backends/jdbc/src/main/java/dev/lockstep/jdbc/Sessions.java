package dev.lockstep.jdbc;

import dev.lockstep.HolderInfo;
import dev.lockstep.LossReason;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.Renewer;
import dev.lockstep.spi.Retry;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Keeps a client alive: one session at a time, renewed by one statement, and replaced by another when it was lost. Works
 * on a thread of its own, so that no queue of requests can starve it. Safe for use by many threads.
 */
final class Sessions implements AutoCloseable {
    private final JdbcBackend backend;
    private final BackendContext context;
    private final HolderInfo who;
    private final long ttlMicros;
    private final Renewer<Session> renewer;
    private int opened; // by the thread that opens
    private volatile boolean closed;
    private volatile Session current;
    private volatile boolean starved;
    private volatile @Nullable Trouble trouble;

    /** Why the database refuses to open or renew a session, and since when it has only refused. */
    record Trouble(SQLException failure, long sinceNanos) {}

    Sessions(JdbcBackend backend, BackendContext context, HolderInfo who) throws SQLException {
        this.backend = backend;
        this.context = context;
        this.who = who;
        this.ttlMicros = context.ttl().toNanos() / 1_000;
        this.renewer = new Renewer<>(context, 1, LossReason.SESSION_ENDED, this::renew);
        this.current = open();
    }

    Session current() {
        return current;
    }

    /** The current session if it is valid; if not, its claims will be asked to try again once it is. */
    boolean isUsable(Session session) {
        if (session.isUsable(context.scheduler().nanoTime())) {
            return true;
        }
        starved = true;
        // It may have been renewed before the mark was seen.
        return session.isUsable(context.scheduler().nanoTime());
    }

    /**
     * Why the database last refused to open or renew the session; null if it did not refuse, or did not answer. Claims
     * that need a session are asked to try again each time that this is set.
     */
    @Nullable
    Trouble trouble() {
        return trouble;
    }

    private Session open() throws SQLException {
        String id = context.clientId() + ':' + ++opened;
        long sent = context.scheduler().nanoTime();
        backend.requests().callForSession(link -> backend.store().openSession(link, id, who, ttlMicros));
        Session session = new Session(this, id, Renewer.deadline(sent, context.ttl()));
        renewer.register(session);
        return session;
    }

    /** Opens a session that nobody renews, and that expires after a time. */
    void openUnrenewed(Link link, String id, Duration time) throws SQLException {
        backend.store().openSession(link, id, who, time.toNanos() / 1_000);
    }

    private CompletionStage<List<Session>> renew(List<Session> batch) {
        Session session = batch.get(0);
        CompletableFuture<List<Session>> answer = new CompletableFuture<>();
        backend.requests().keep(() -> {
            try {
                boolean renewed =
                        backend.requests().renew(link -> backend.store().renewSession(link, session.id(), ttlMicros));
                answer.complete(renewed ? List.of() : batch);
                if (renewed) {
                    backend.reconciler().start(session);
                }
            } catch (SQLException | RuntimeException e) {
                answer.completeExceptionally(e);
                failed(e);
            }
        });
        return answer;
    }

    /** The session could not be opened or renewed; this is retried. */
    private void failed(Exception e) {
        Failure failure = e instanceof SQLException sql ? backend.requests().failure(sql) : Failure.UNREACHABLE;
        if (failure != Failure.WRONG && failure != Failure.REFUSED) {
            trouble = null;
            backend.log().debug("{}: the session could not be opened or renewed; retrying", place(), e);
            return;
        }
        Trouble known = trouble;
        if (known == null) {
            backend.log().warn("{}: the session could not be opened or renewed; retrying", place(), e);
        }
        trouble = new Trouble(
                (SQLException) e, known == null ? context.scheduler().nanoTime() : known.sinceNanos());
        if (starved) {
            backend.resumeClaims();
        }
    }

    private String place() {
        return backend.requests().place();
    }

    /** The session was renewed: requests that waited for that continue. */
    void renewed() {
        trouble = null;
        if (starved) {
            starved = false;
            backend.resumeClaims();
        }
    }

    /** The session is gone: its grants are lost, and there will be another one. */
    void lost(Session session, LossReason reason) {
        backend.grantsOf(session).forEach(grant -> grant.signalLost(reason));
        reopen(Retry.endless(context));
    }

    private void reopen(Retry retry) {
        backend.requests().keep(() -> {
            if (closed) {
                return;
            }
            try {
                current = open();
                trouble = null;
                starved = false;
                backend.resumeClaims();
            } catch (SQLException | RuntimeException e) {
                failed(e);
                retry.later(() -> reopen(retry));
            }
        });
    }

    /** Stops renewing. The caller ends the row, or it expires. */
    @Override
    public void close() {
        closed = true;
        renewer.close();
        current.end();
    }
}
