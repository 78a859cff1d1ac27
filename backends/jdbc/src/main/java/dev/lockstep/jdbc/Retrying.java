package dev.lockstep.jdbc;

import dev.lockstep.LockUnavailableException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * A request that is repeated until it is answered, for the ttl at most. It ends earlier if no repetition can mend what went
 * wrong, and with its session, whose rows belong to nobody any more. What it leaves behind the {@link Reconciler} frees.
 */
final class Retrying {
    private final JdbcBackend backend;
    private final JdbcSession session;
    private final String name;
    private final String what;
    private final Request request;
    private final CompletableFuture<Boolean> answer = new CompletableFuture<>();
    private final long giveUpNanos;

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

    Retrying(JdbcBackend backend, JdbcSession session, String name, String what, Request request) {
        this.backend = backend;
        this.session = session;
        this.name = name;
        this.what = what;
        this.request = request;
        this.giveUpNanos = backend.requests().nanoTime() + backend.requests().ttlNanos();
    }

    CompletableFuture<Boolean> run(Duration blockAtMost) {
        backend.requests().run(blockAtMost, () -> attempt(1), this::closed);
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

    private void attempt(int number) {
        try {
            answer.complete(backend.requests().call(link -> request.send(link, number > 1)));
        } catch (SQLException | RuntimeException e) {
            SQLException failure = Failure.asSqlException(e);
            Failure kind = backend.requests().failure(failure);
            if (kind == Failure.WRONG || session.isEnded() || backend.requests().nanoTime() - giveUpNanos >= 0) {
                answer.completeExceptionally(backend.requests().exception(name, what, failure));
                return;
            }
            backend.requests()
                    .later(
                            backend.requests().delay(number),
                            () -> backend.requests().run(Duration.ZERO, () -> attempt(number + 1), this::closed));
        }
    }

    private void closed() {
        answer.completeExceptionally(new LockUnavailableException(
                name, "Lock '" + name + "': " + what + " was not answered before the client was closed."));
    }
}
