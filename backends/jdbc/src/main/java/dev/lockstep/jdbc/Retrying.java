package dev.lockstep.jdbc;

import dev.lockstep.LockUnavailableException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * A request that is repeated until it is answered. After the ttl nobody waits for the answer any more; but the database
 * does not forget by itself what belongs to a session that lives, so the request goes on until the client is closed.
 *
 * @param <T> the answer
 */
final class Retrying<T> {
    private final JdbcBackend backend;
    private final String name;
    private final String what;
    private final Request<T> request;
    private final CompletableFuture<T> answer = new CompletableFuture<>();
    private final long giveUpNanos;

    /** What is asked. */
    @FunctionalInterface
    interface Request<T> {
        /**
         * Asks once.
         *
         * @param repeated whether it was asked before, and may have been carried out
         */
        T send(Link link, boolean repeated) throws SQLException;
    }

    Retrying(JdbcBackend backend, String name, String what, Request<T> request) {
        this.backend = backend;
        this.name = name;
        this.what = what;
        this.request = request;
        this.giveUpNanos = backend.requests().nanoTime() + backend.requests().ttlNanos();
    }

    CompletableFuture<T> run(Duration blockAtMost) {
        backend.requests().run(blockAtMost, () -> attempt(1), this::closed);
        return answer;
    }

    private void attempt(int number) {
        try {
            answer.complete(backend.requests().call(link -> request.send(link, number > 1)));
        } catch (SQLException e) {
            Failure failure = backend.requests().failure(e);
            if (failure == Failure.WRONG || backend.requests().nanoTime() - giveUpNanos >= 0) {
                answer.completeExceptionally(failure.toException(name, what, e));
            }
            backend.requests()
                    .later(
                            backend.requests().delay(number),
                            () -> backend.requests().run(Duration.ZERO, () -> attempt(number + 1), this::closed));
        } catch (RuntimeException e) {
            answer.completeExceptionally(e);
        }
    }

    private void closed() {
        answer.completeExceptionally(new LockUnavailableException(
                name, "Lock '" + name + "': " + what + " was not answered before the client was closed."));
    }
}
