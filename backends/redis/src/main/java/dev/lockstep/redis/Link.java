package dev.lockstep.redis;

import dev.lockstep.LockstepException;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.Scheduler;
import java.net.SocketTimeoutException;
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
    private final ConnectThreads connecting;
    private final Connections pooled;
    private final OwnConnections own;
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
        this.connecting = new ConnectThreads(clientName, upkeepThreads);
        // A pool that is being closed may make a connection in the place of the one that is returned.
        this.pooled = Connections.ofPools(route, connecting, () -> closedPools.forEach(Pool::clear));
        this.own = new OwnConnections(route, connecting);
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
        ScriptRun run = new ScriptRun(script, slot, keys, args);
        return call(slot, deadlineNanos, connection -> {
            Object answer = run.on(connection);
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

    /** The connections for requests of the application's calls. */
    Connections pooled() {
        return pooled;
    }

    /** The connections that keep alive what is held. */
    Connections own() {
        return own;
    }

    /**
     * Runs a script.
     *
     * @param reached asked on the connection after the script; if it says no, the whole is a failure
     */
    Object eval(Connections connections, ScriptRun run, long deadlineNanos, Predicate<Connection> reached)
            throws Failure {
        return require(call(connections, run.slot(), deadlineNanos, connection -> {
            Object answer = run.on(connection);
            return reached.test(connection) ? answer : NOT_REACHED;
        }));
    }

    /** Runs several scripts on one server, back to back; an answer for each, which may be the server's error. */
    List<Object> pipeline(
            Connections connections, List<ScriptRun> runs, long deadlineNanos, Predicate<Connection> reached)
            throws Failure {
        @SuppressWarnings("unchecked")
        List<Object> answers =
                (List<Object>) require(call(connections, runs.get(0).slot(), deadlineNanos, connection -> {
                    runs.forEach(run -> run.send(connection));
                    List<Object> all = connection.getMany(runs.size());
                    return reached.test(connection) ? all : NOT_REACHED;
                }));
        return answers;
    }

    private Object require(Object answer) throws Failure {
        if (answer == NOT_REACHED) {
            throw Failure.notSent(route.toString(), "too few replicas confirmed it in time", null);
        }
        return answer;
    }

    /** Finds out which server has a slot. Not for connections of our own: any server sends them where they belong. */
    void locate(Connections connections, int slot, long deadlineNanos) throws Failure {
        if (connections == pooled && route.serverOf(slot) == null) {
            pooled.giveBack(borrow(pooled, slot, null, deadlineNanos));
        }
    }

    /** Does something with a connection to the server of a slot, or to any if the slot is -1; follows redirections. */
    Object call(int slot, long deadlineNanos, Exchange exchange) throws Failure {
        return call(pooled, slot, deadlineNanos, exchange);
    }

    private Object call(Connections connections, int slot, long deadlineNanos, Exchange exchange) throws Failure {
        HostAndPort target = null;
        boolean asking = false;
        for (int redirections = 0; ; redirections++) {
            long sent = scheduler.nanoTime();
            Connection connection = borrow(connections, slot, target, deadlineNanos);
            int usualTimeout = connection.getSoTimeout();
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
                throw failed(connections, slot, connection, sent, e);
            } finally {
                restoreTimeout(connection, usualTimeout);
                connections.giveBack(connection);
            }
        }
    }

    /** The next who has the connection, perhaps the application, counts on its own timeout. */
    private static void restoreTimeout(Connection connection, int usualTimeout) {
        if (!connection.isBroken()) {
            try {
                connection.setSoTimeout(usualTimeout);
            } catch (JedisException e) {
                // Broken now, and marked so.
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
                int usualTimeout = connection.getSoTimeout();
                try {
                    connection.setSoTimeout(millisUntil(deadlineNanos));
                    exchange.with(connection);
                } catch (LockstepException e) {
                    throw e; // not the connection's fault
                } catch (RuntimeException e) {
                    throw failed(pooled, -1, connection, sent, e);
                } finally {
                    restoreTimeout(connection, usualTimeout);
                }
            }
            noteContact(sent);
        } finally {
            connections.forEach(pooled::giveBack);
        }
    }

    private Failure failed(Connections connections, int slot, Connection connection, long sent, RuntimeException e) {
        Failure failure = Failure.of(route.toString(), e);
        if (failure.kind() == Failure.Kind.FINAL) {
            noteContact(sent);
        } else if (!(e instanceof JedisDataException) || failure.spoilsConnection()) {
            connection.setBroken();
            boolean patient = !wasImpatient(sent, e);
            if (patient) {
                route.distrust(connection);
            }
            if (patient || connections == own) { // which must not meet the same silence the next time
                route.forget(slot);
                refreshLater();
            }
        }
        return failure;
    }

    /** Whether a request had so little time that its end says nothing about other connections. */
    private boolean wasImpatient(long sent, RuntimeException e) {
        boolean late = false;
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
            late |= cause instanceof SocketTimeoutException;
        }
        return late && scheduler.nanoTime() - sent < requestTimeout.toNanos() / 10 * 9;
    }

    private Connection borrow(Connections connections, int slot, @Nullable HostAndPort target, long deadlineNanos)
            throws Failure {
        long wait = deadlineNanos - scheduler.nanoTime();
        if (wait <= 0) {
            throw Failure.notSent(route.toString(), "there was no time left to send the request", null);
        }
        try {
            return connections.borrow(slot, target, wait);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Failure.notSent(route.toString(), "interrupted while waiting for a connection", e);
        } catch (RuntimeException e) {
            route.forget(slot);
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
        own.close();
        closedPools = List.copyOf(route.pools()); // before they close, so that who gives back after that sees them
        route.close();
        connecting.close();
    }
}
