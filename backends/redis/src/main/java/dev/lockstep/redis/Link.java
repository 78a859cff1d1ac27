package dev.lockstep.redis;

import dev.lockstep.LockstepException;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.Scheduler;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.exceptions.JedisAskDataException;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.exceptions.JedisNoScriptException;
import redis.clients.jedis.exceptions.JedisRedirectionException;
import redis.clients.jedis.util.Pool;

/**
 * One client's way to one Redis, be it a server or a cluster: its connections, the scripts, the threads for requests that
 * their caller does not wait for, and what it is told without asking. Knows nothing of locks. Safe for use by many
 * threads.
 *
 * <p>A request blocks the calling thread for its round trip, until a deadline at most. It is tried once: the caller
 * knows whether and when to try again.
 */
final class Link implements AutoCloseable {
    private static final int THREADS = 8;
    private static final int UPKEEP_THREADS = 4;
    private static final int MAX_REDIRECTIONS = 5;
    private static final Object NOT_REACHED = new Object();

    private final Route route;
    private final Scheduler scheduler;
    private final Duration requestTimeout;
    private final AtomicLong lastContactNanos;
    private final ThreadPoolExecutor requests;
    private final ThreadPoolExecutor upkeep;
    private final AtomicBoolean refreshing = new AtomicBoolean();
    private volatile @Nullable PushChannel push;
    private volatile List<Pool<Connection>> closedPools = List.of();

    Link(Route route, Scheduler scheduler, Duration requestTimeout, String clientName) {
        this(route, scheduler, requestTimeout, clientName, THREADS, UPKEEP_THREADS);
    }

    Link(Route route, Scheduler scheduler, Duration requestTimeout, String clientName, int threads, int upkeepThreads) {
        this.route = route;
        this.scheduler = scheduler;
        this.requestTimeout = requestTimeout;
        this.lastContactNanos = new AtomicLong(scheduler.nanoTime());
        this.requests = executor("lockstep-redis-" + clientName, threads);
        // Of its own, so that renewals do not queue behind requests.
        this.upkeep = executor("lockstep-redis-upkeep-" + clientName, upkeepThreads);
    }

    private static ThreadPoolExecutor executor(String name, int threads) {
        ThreadPoolExecutor executor =
                new ThreadPoolExecutor(threads, threads, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
                    Thread thread = new Thread(task, name);
                    thread.setDaemon(true);
                    return thread;
                });
        executor.allowCoreThreadTimeOut(true);
        return executor;
    }

    Route route() {
        return route;
    }

    /** Starts to listen to what the server tells this client, and waits until it does. */
    void listen(BackendContext context, PushChannel.Listener listener) throws Failure {
        PushChannel channel = new PushChannel(this, context, listener);
        push = channel;
        if (!closedPools.isEmpty()) {
            throw Failure.notSent(route.toString(), "the client is closed", null);
        }
        channel.open();
    }

    /** Where a lock's keys are: its slot in a cluster, else anywhere. */
    int slot(LockKeys keys) {
        return route.isCluster() ? keys.slot() : -1;
    }

    Duration requestTimeout() {
        return requestTimeout;
    }

    /** The deadline of a request that is made now. */
    long deadline() {
        return scheduler.nanoTime() + requestTimeout.toNanos();
    }

    long lastContactNanos() {
        return lastContactNanos.get();
    }

    /** Runs a task that blocks on a thread of the link; not at all once it is closed. */
    void execute(Runnable task) {
        execute(requests, task);
    }

    /** Runs a task that blocks on a thread that keeps alive what is held. */
    void executeUpkeep(Runnable task) {
        execute(upkeep, task);
    }

    private static void execute(ExecutorService executor, Runnable task) {
        try {
            executor.execute(task);
        } catch (RejectedExecutionException e) {
            // Closed; whoever waits for an answer is told by the backend.
        }
    }

    /** Runs a script whose keys are all in one slot. */
    Object eval(Script script, int slot, byte[][] keys, byte[][] args, long deadlineNanos) throws Failure {
        return eval(script, slot, keys, args, deadlineNanos, null);
    }

    /** Runs a script, and something more on the same connection if it was answered. */
    Object eval(
            Script script, int slot, byte[][] keys, byte[][] args, long deadlineNanos, @Nullable Afterwards afterwards)
            throws Failure {
        return call(slot, deadlineNanos, connection -> {
            Object answer;
            try {
                answer = connection.executeCommand(command(script, false, keys, args));
            } catch (JedisNoScriptException e) {
                answer = connection.executeCommand(command(script, true, keys, args));
            }
            return afterwards == null ? answer : afterwards.then(connection, answer);
        });
    }

    /** What follows a script's answer, on the connection that ran it. */
    @FunctionalInterface
    interface Afterwards {
        Object then(Connection connection, Object answer);
    }

    /** What is done with a connection. */
    @FunctionalInterface
    interface Exchange {
        Object with(Connection connection);
    }

    /** One script run of several. */
    record Run(Script script, int slot, byte[][] keys, byte[][] args) {}

    private Object require(Object answer) throws Failure {
        if (answer == NOT_REACHED) {
            throw Failure.notSent(route.toString(), "too few replicas confirmed it in time", null);
        }
        return answer;
    }

    /**
     * Runs a script.
     *
     * @param reached asked on the connection after the script; if it says no, the whole is a failure
     */
    Object eval(Run run, long deadlineNanos, Predicate<Connection> reached) throws Failure {
        return require(eval(
                run.script,
                run.slot,
                run.keys,
                run.args,
                deadlineNanos,
                (connection, answer) -> reached.test(connection) ? answer : NOT_REACHED));
    }

    /** Runs several scripts on one server, back to back; an answer for each, which may be the server's error. */
    List<Object> pipeline(List<Run> runs, long deadlineNanos, Predicate<Connection> reached) throws Failure {
        @SuppressWarnings("unchecked")
        List<Object> answers = (List<Object>) require(call(runs.get(0).slot, deadlineNanos, connection -> {
            runs.forEach(run -> connection.sendCommand(command(run.script, false, run.keys, run.args)));
            List<Object> all = connection.getMany(runs.size());
            return reached.test(connection) ? all : NOT_REACHED;
        }));
        return answers;
    }

    /** A name for the server that has a slot. */
    String serverOf(int slot, long deadlineNanos) throws Failure {
        String known = route.serverOf(slot);
        if (known != null) {
            return known;
        }
        Connection connection = borrow(slot, null, deadlineNanos);
        String server = connection.getHostAndPort().toString();
        done(connection);
        return server;
    }

    private static CommandArguments command(Script script, boolean whole, byte[][] keys, byte[][] args) {
        CommandArguments command = new CommandArguments(whole ? Protocol.Command.EVAL : Protocol.Command.EVALSHA);
        command.add(whole ? script.source() : script.hash()).add(keys.length);
        for (byte[] key : keys) {
            command.add(key);
        }
        for (byte[] arg : args) {
            command.add(arg);
        }
        return command;
    }

    /** Does something with a connection to the server of a slot, or to any if the slot is -1; follows redirections. */
    Object call(int slot, long deadlineNanos, Exchange exchange) throws Failure {
        HostAndPort target = null;
        boolean asking = false;
        for (int redirections = 0; ; redirections++) {
            long sent = scheduler.nanoTime();
            Connection connection = borrow(slot, target, deadlineNanos);
            try {
                connection.setSoTimeout(millisUntil(deadlineNanos));
                if (asking) {
                    connection.executeCommand(Protocol.Command.ASKING);
                }
                Object answer = exchange.with(connection);
                noteContact(sent);
                return answer;
            } catch (JedisRedirectionException e) {
                if (redirections == MAX_REDIRECTIONS) {
                    throw Failure.of(route.toString(), e);
                }
                target = e.getTargetNode();
                asking = e instanceof JedisAskDataException;
                if (!asking) {
                    refreshLater();
                }
            } catch (RuntimeException e) {
                throw failed(connection, sent, e);
            } finally {
                done(connection);
            }
        }
    }

    /**
     * Asks a server for a sign of life, by a write that changes nothing: one that answers but refuses to write is of no use
     * to locks, and the plain ping does not say so. A node of a cluster that sends us elsewhere would take writes.
     */
    Object ping(long deadlineNanos) throws Failure {
        return call(-1, deadlineNanos, connection -> {
            try {
                return connection.executeCommand(new CommandArguments(Protocol.Command.DEL).add(LockKeys.NOBODYS));
            } catch (JedisRedirectionException e) {
                return 0L;
            }
        });
    }

    /** Does something with each primary, one after another. */
    void callAll(long deadlineNanos, Exchange exchange) throws Failure {
        List<Connection> connections;
        long sent = scheduler.nanoTime();
        try {
            connections = route.borrowAll(deadlineNanos - sent);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Failure.notSent(route.toString(), "interrupted while waiting for a connection", e);
        } catch (RuntimeException e) {
            throw Failure.notSent(route.toString(), "no connection: " + rootMessage(e), e);
        }
        try {
            for (Connection connection : connections) {
                try {
                    connection.setSoTimeout(millisUntil(deadlineNanos));
                    exchange.with(connection);
                } catch (LockstepException e) {
                    throw e; // not the connection's fault
                } catch (RuntimeException e) {
                    throw failed(connection, sent, e);
                }
            }
            noteContact(sent);
        } finally {
            connections.forEach(this::done);
        }
    }

    /** Gives a connection back, and closes the one that a pool may have made in its place while it was being closed. */
    private void done(Connection connection) {
        giveBack(connection);
        closedPools.forEach(Pool::clear);
    }

    /**
     * Gives a connection back. The pool of a broken one makes another in its place, and throws if it cannot: that is for the
     * next who borrows to know, and must not hide from this one why it broke.
     */
    static void giveBack(Connection connection) {
        try {
            connection.close();
        } catch (JedisException e) {
            // It is closed all the same.
        }
    }

    private Failure failed(Connection connection, long sent, RuntimeException e) {
        Failure failure = Failure.of(route.toString(), e);
        if (failure.kind() == Failure.Kind.FINAL) {
            noteContact(sent);
        } else if (!(e instanceof JedisDataException) || failure.spoilsConnection()) {
            connection.setBroken();
            route.distrust(connection);
            refreshLater();
        }
        return failure;
    }

    private Connection borrow(int slot, @Nullable HostAndPort target, long deadlineNanos) throws Failure {
        long wait = deadlineNanos - scheduler.nanoTime();
        if (wait <= 0) {
            throw Failure.notSent(route.toString(), "there was no time left to send the request", null);
        }
        try {
            return target == null ? route.borrow(slot, wait) : route.borrow(target, slot, wait);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Failure.notSent(route.toString(), "interrupted while waiting for a connection", e);
        } catch (RuntimeException e) {
            refreshLater();
            throw Failure.notSent(route.toString(), "no connection: " + rootMessage(e), e);
        }
    }

    private static String rootMessage(Throwable thrown) {
        Throwable root = thrown;
        while (root.getCause() != null && !(root instanceof SSLException)) {
            root = root.getCause();
        }
        return (root instanceof SSLException ? "TLS: " : "") + root.getMessage();
    }

    private void refreshLater() {
        if (route.isCluster() && refreshing.compareAndSet(false, true)) {
            execute(() -> {
                try {
                    route.refresh();
                } catch (RuntimeException e) {
                    // The next failure asks again.
                } finally {
                    refreshing.set(false);
                }
            });
        }
    }

    private void noteContact(long sent) {
        lastContactNanos.accumulateAndGet(sent, (known, now) -> now - known > 0 ? now : known);
    }

    private int millisUntil(long deadlineNanos) {
        long nanos = deadlineNanos - scheduler.nanoTime();
        return (int) Math.max(1, Math.min(TimeUnit.NANOSECONDS.toMillis(nanos), Integer.MAX_VALUE));
    }

    /** Closes the connections; requests that are under way fail. */
    @Override
    public void close() {
        PushChannel channel = push;
        if (channel != null) {
            channel.close();
        }
        requests.shutdownNow();
        upkeep.shutdownNow();
        closedPools = List.copyOf(route.pools()); // before they close, so that who gives back after that sees them
        route.close();
    }
}
