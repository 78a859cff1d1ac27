package dev.lockstep.jdbc;

import dev.lockstep.LockUnavailableException;
import dev.lockstep.spi.Retry;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * Releases what a claim has in the database: the whole claim, or, for a downgrade, that it is exclusive. The request is
 * repeated until it is answered, for the ttl at most. It ends earlier if a repetition cannot help, or if its session has
 * ended, because the rows of a session end with it; none begins once the client has begun to end its session. The {@link Reconciler} frees what it leaves behind.
 */
final class Release {
    private final JdbcBackend backend;
    private final Session session;
    private final String name;
    private final String what;
    private final Request request;
    private final CompletableFuture<Boolean> answer = new CompletableFuture<>();
    private final Retry retry;

    /** The request. */
    @FunctionalInterface
    interface Request {
        /**
         * Sends the request once.
         *
         * @param repeated whether it was sent before, and may have been carried out
         */
        boolean send(Link link, boolean repeated) throws SQLException;
    }

    Release(JdbcBackend backend, Session session, String name, String what, Request request) {
        this.backend = backend;
        this.session = session;
        this.name = name;
        this.what = what;
        this.request = request;
        this.retry = Retry.forTtl(backend.context());
    }

    CompletableFuture<Boolean> run(Duration blockAtMost) {
        backend.requests().run(blockAtMost, this::attempt, this::closed);
        if (!answer.isDone()) {
            backend.register(this);
            answer.whenComplete((done, failure) -> backend.forget(this));
        }
        return answer;
    }

    /** The session was ended, and the claim with it. */
    void endedWithSession() {
        answer.complete(true);
    }

    private void attempt() {
        if (backend.isClosed()) {
            return; // the end of the session releases it, and must not wait behind all others
        }
        try {
            answer.complete(backend.requests().call(link -> request.send(link, retry.failures() > 0)));
        } catch (SQLException | RuntimeException e) {
            SQLException failure = Failure.asSqlException(e);
            boolean over = backend.requests().failure(failure) == Failure.WRONG || session.isEnded();
            if (over || !retry.later(() -> backend.requests().run(Duration.ZERO, this::attempt, this::closed))) {
                answer.completeExceptionally(backend.requests().exception(name, what, failure));
            }
        }
    }

    private void closed() {
        answer.completeExceptionally(new LockUnavailableException(
                name, "Lock '" + name + "': " + what + " was not answered before the client was closed."));
    }
}
