package dev.lockstep.jdbc;

import dev.lockstep.LockUnavailableException;
import dev.lockstep.LockstepException;
import dev.lockstep.spi.Answers;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Scheduler;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Runs a client's requests: in which thread, and when. Safe for use by many threads. */
final class Requests implements AutoCloseable {
    private static final int MAX_THREADS = 8;
    private static final Duration THREADS_IDLE = Duration.ofSeconds(10);

    private final BackendContext context;
    private final Dialect dialect;
    private final Connections connections;
    private final ThreadPoolExecutor requests;
    private final ThreadPoolExecutor keeper;

    Requests(BackendContext context, Dialect dialect, Connections connections, int poolSize) {
        this.context = context;
        this.dialect = dialect;
        this.connections = connections;
        this.requests = threads("request", Math.min(poolSize, MAX_THREADS));
        this.keeper = threads("session", 1);
    }

    private ThreadPoolExecutor threads(String what, int count) {
        ThreadPoolExecutor threads = new ThreadPoolExecutor(
                count, count, THREADS_IDLE.toMillis(), TimeUnit.MILLISECONDS, new LinkedBlockingQueue<>(), task -> {
                    Thread thread = new Thread(task, "lockstep-jdbc-" + what + "-" + context.clientName());
                    thread.setDaemon(true);
                    return thread;
                });
        threads.allowCoreThreadTimeOut(true);
        return threads;
    }

    long nanoTime() {
        return context.scheduler().nanoTime();
    }

    long ttlNanos() {
        return context.ttl().toNanos();
    }

    long requestTimeoutNanos() {
        return context.requestTimeout().toNanos();
    }

    /** How long to wait after a failure at most, in nanoseconds. */
    long longestDelay() {
        return context.retryBackoff().max().toNanos();
    }

    /** The exception that a caller gets for a failure. */
    LockstepException exception(@Nullable String name, String tried, SQLException e) {
        return failure(e).toException(name, connections.database().toString(), tried, e);
    }

    /** The address of the database, for messages. */
    String place() {
        return connections.database().toString();
    }

    Failure failure(SQLException e) {
        return Failure.of(e, dialect);
    }

    /** One request, in the calling thread. */
    <T> T call(Link.Work<T> work) throws SQLException {
        return connections.call(work);
    }

    /** One request that opens or ends the session, in the calling thread. */
    <T> T callForSession(Link.Work<T> work) throws SQLException {
        return connections.callForSession("session", requestTimeoutNanos(), work);
    }

    /** One request that keeps the session alive, in the calling thread. */
    <T> T renew(Link.Work<T> work) throws SQLException {
        return connections.callForSession("renew", context.renewalTimeout().toNanos(), work);
    }

    /** The answer to a request that was sent then says that others hold a lock. */
    void noteContact(long sentNanos) {
        connections.noteContact(sentNanos);
    }

    /** Runs requests in the calling thread if it may block for as long as they take, else on one of the backend's own. */
    void run(Duration blockAtMost, Runnable request, Runnable ifClosed) {
        if (dialect.runsInCallerThread() && blockAtMost.compareTo(context.requestTimeout()) >= 0) {
            request.run();
            return;
        }
        execute(requests, request, ifClosed);
    }

    /** Runs what keeps the session alive, on a thread for that alone. */
    void keep(Runnable task) {
        execute(keeper, task, () -> {});
    }

    private static void execute(ThreadPoolExecutor threads, Runnable task, Runnable ifClosed) {
        try {
            threads.execute(task);
        } catch (RejectedExecutionException e) {
            ifClosed.run();
        }
    }

    Scheduler.Timer later(long delayNanos, Runnable task) {
        return context.scheduler().schedule(delayNanos, task);
    }

    /** Asks once, on a thread of the backend's own, for the request timeout at most. */
    <T> CompletionStage<T> ask(@Nullable String name, String what, Link.Work<T> work) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        run(
                LockBackend.DO_NOT_BLOCK,
                () -> {
                    try {
                        answer.complete(call(work));
                    } catch (SQLException e) {
                        answer.completeExceptionally(exception(name, what, e));
                    } catch (RuntimeException e) {
                        answer.completeExceptionally(e);
                    }
                },
                () -> answer.completeExceptionally(context.closedFailure(name)));
        return Answers.within(
                context,
                answer,
                () -> new LockUnavailableException(
                        name, what + " was not answered in time. Check that " + place() + " runs and can be reached."));
    }

    /** Accepts no more requests. No thread is interrupted: that would close the files of an embedded H2. */
    @Override
    public void close() {
        requests.getQueue().clear();
        requests.shutdown();
        keeper.shutdown();
    }
}
