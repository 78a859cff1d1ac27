package dev.lockstep.redis.internal;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import redis.clients.jedis.Connection;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Threads that connect. Jedis connects in the thread that borrows from a pool, and also in the thread that returns a broken
 * connection; with a server that is silent, each of the two takes the timeouts of connecting and of logging in. A caller
 * that has less time waits for these threads instead. Safe for use by many threads.
 */
public final class ConnectThreads implements AutoCloseable {
    private final ThreadPoolExecutor threads;

    public ConnectThreads(String clientName, int count) {
        threads = executor("lockstep-redis-connect-" + clientName, count);
    }

    /** Daemon threads that end when they have been idle for a while. */
    static ThreadPoolExecutor executor(String name, int threads) {
        ThreadPoolExecutor executor =
                new ThreadPoolExecutor(threads, threads, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
                    Thread thread = new Thread(task, name);
                    thread.setDaemon(true);
                    return thread;
                });
        executor.allowCoreThreadTimeOut(true);
        return executor;
    }

    /**
     * Waits for a connection.
     *
     * @param source connects, for as long as it takes
     * @param waitNanos how long the caller waits for it; a connection that comes later is returned
     * @throws RuntimeException if there is none in time
     */
    Connection await(Callable<Connection> source, long waitNanos) throws InterruptedException {
        CompletableFuture<Connection> made = new CompletableFuture<>();
        try {
            threads.execute(() -> connect(source, made));
        } catch (RejectedExecutionException e) {
            throw new JedisException("the client is closed", e);
        }
        try {
            return made.get(waitNanos, TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException failure) {
                throw failure;
            }
            throw new JedisException(e.getCause());
        } catch (TimeoutException e) {
            if (!made.cancel(false) && !made.isCompletedExceptionally()) {
                return made.join(); // it came at the last moment
            }
            throw new JedisConnectionException(
                    "not connected within " + Duration.ofNanos(waitNanos).toMillis() + " ms", e);
        } catch (InterruptedException e) {
            if (!made.cancel(false) && !made.isCompletedExceptionally()) {
                giveBack(made.join());
            }
            throw e;
        }
    }

    /** The same; an interrupt that came before it does not end the wait, and stays pending. */
    Connection awaitAnyway(Callable<Connection> source, long waitNanos) throws InterruptedException {
        boolean interrupted = Thread.interrupted();
        try {
            return await(source, waitNanos);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static void connect(Callable<Connection> source, CompletableFuture<Connection> made) {
        if (made.isDone()) {
            return; // nobody waits for it any more
        }
        try {
            Connection connection = source.call();
            if (!made.complete(connection)) {
                giveBack(connection);
            }
        } catch (Exception | Error e) {
            made.completeExceptionally(e);
        }
    }

    /** Runs something that may have to connect, and for which nobody waits. */
    void execute(Runnable task) {
        try {
            threads.execute(task);
        } catch (RejectedExecutionException e) {
            task.run(); // closed; a connection must be returned all the same
        }
    }

    /**
     * Returns a connection. The pool of a broken one makes another in its place, and throws if it cannot. The next
     * borrower will see that failure; it must not hide from this one why the connection broke.
     */
    public static void giveBack(Connection connection) {
        try {
            connection.close();
        } catch (JedisException e) {
            // It is closed all the same.
        }
    }

    /** An attempt that has begun is completed: a connection that is not returned would be missing in its pool. */
    @Override
    public void close() {
        threads.shutdown();
    }
}
