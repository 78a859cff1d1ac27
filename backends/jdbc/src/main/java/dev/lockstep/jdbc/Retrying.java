package dev.lockstep.jdbc;

import dev.lockstep.LockUnavailableException;
import dev.lockstep.spi.Retry;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * A request that is repeated until it is answered, for the ttl at most. It ends earlier if no repetition can mend what went
 * wrong, and with its session, whose rows belong to nobody any more. What it leaves behind the {@link Reconciler} frees.
 */
final class Retrying {
    private final JdbcBackend backend;
    private final Session session;
    private final String name;
    private final String what;
    private final Request request;
    private final CompletableFuture<Boolean> answer = new CompletableFuture<>();
    private final Retry retry;

    /** What is asked. */
    @FunctionalInterface
    interface Request {
        /**
         * Asks once.
         *
         * @param repeated whether it was asked before, and may have been carried out
         */
        boolean send(Link link, boolean repeated) throws SQLException;
    }

    Retrying(JdbcBackend backend, Session session, String name, String what, Request request) {
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
