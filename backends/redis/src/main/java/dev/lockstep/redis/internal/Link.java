package dev.lockstep.redis.internal;

import dev.lockstep.LockstepException;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.RequestObserver;
import dev.lockstep.spi.Scheduler;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;
import java.util.function.Predicate;
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
 * One client's way to one Redis, a server or a cluster: its connections, the scripts, threads for requests whose caller
 * does not wait, and messages. Knows nothing of locks. Safe for use by many threads.
 *
 * <p>A request blocks the calling thread for its round trip, until a deadline at most. It is tried once: the caller
 * knows whether and when to try again.
 */
public final class Link implements AutoCloseable {
    private static final int THREADS = 8;
    private static final int UPKEEP_THREADS = 4;
    private static final int MAX_REDIRECTIONS = 5;
    private static final Object NOT_REACHED = new Object();

    private final Route route;
    private final Scheduler scheduler;
    private final Duration requestTimeout;
    private final RequestObserver observer;
    private final AtomicLong lastContactNanos;
    private final ThreadPoolExecutor requests;
    private final ThreadPoolExecutor upkeep;
    private final ConnectThreads connecting;
    private final Connections pooled;
    private final OwnConnections own;
    private final AtomicBoolean refreshing = new AtomicBoolean();
    private volatile @Nullable PushChannel push;
    private volatile List<Pool<Connection>> closedPools = List.of();

    public Link(Route route, BackendContext context) {
        this(route, context, THREADS, UPKEEP_THREADS);
    }

    public Link(Route route, BackendContext context, int threads, int upkeepThreads) {
        String clientName = context.clientName();
        this.route = route;
        this.scheduler = context.scheduler();
        this.requestTimeout = context.requestTimeout();
        this.observer = context.requests();
        this.lastContactNanos = new AtomicLong(scheduler.nanoTime());
        this.requests = ConnectThreads.executor("lockstep-redis-" + clientName, threads);
        // Of its own, so that renewals do not queue behind requests.
        this.upkeep = ConnectThreads.executor("lockstep-redis-upkeep-" + clientName, upkeepThreads);
        this.connecting = new ConnectThreads(clientName, upkeepThreads);
        // A pool that is being closed may make a connection in the place of the one that is returned.
        this.pooled = Connections.ofPools(route, connecting, () -> closedPools.forEach(Pool::clear));
        this.own = new OwnConnections(route, connecting);
    }

    public Route route() {
        return route;
    }

    /** Starts to listen to the server's messages to this client, and waits until it does. */
    public void listen(BackendContext context, PushChannel.Listener listener) throws Failure {
        PushChannel channel = new PushChannel(this, context, listener);
        push = channel;
        if (!closedPools.isEmpty()) {
            throw Failure.notSent(route.toString(), "the client is closed", null);
        }
        channel.open();
    }

    /** Where a lock's keys are: its slot in a cluster, else anywhere. */
    public int slot(Keys keys) {
        return route.isCluster() ? keys.slot() : -1;
    }

    /** The deadline of a request that is made now. */
    public long requestDeadlineNanos() {
        return scheduler.nanoTime() + requestTimeout.toNanos();
    }

    public long lastContactNanos() {
        return lastContactNanos.get();
    }

    /** Runs a task that blocks on a thread of the link; not at all once it is closed. */
    public void execute(Runnable task) {
        execute(requests, task);
    }

    /** Runs a task that blocks on a thread that keeps alive what is held. */
    public void executeUpkeep(Runnable task) {
        execute(upkeep, task);
    }

    private static void execute(ExecutorService executor, Runnable task) {
        try {
            executor.execute(task);
        } catch (RejectedExecutionException e) {
            // Closed; the backend notifies callers that wait for an answer.
        }
    }

    /** Runs a script of the queued lock. */
    public Object eval(Script script, Keys keys, byte[][] args, long deadlineNanos) throws Failure {
        return eval(script, slot(keys), keys.queued(), args, deadlineNanos);
    }

    /** Runs a script whose keys are all in one slot. */
    public Object eval(Script script, int slot, byte[][] keys, byte[][] args, long deadlineNanos) throws Failure {
        return eval(script, slot, keys, args, deadlineNanos, null);
    }

    /** Runs a script, and something more on the same connection if it was answered. */
    public Object eval(
            Script script,
            int slot,
            byte[][] keys,
            byte[][] args,
            long deadlineNanos,
            @Nullable BiFunction<Connection, Object, Object> afterwards)
            throws Failure {
        ScriptRun run = new ScriptRun(script, slot, keys, args);
        return call(script.kind(), slot, deadlineNanos, connection -> {
            Object answer = run.on(connection);
            return afterwards == null ? answer : afterwards.apply(connection, answer);
        });
    }

    /** An action that uses a connection. */
    @FunctionalInterface
    public interface Exchange {
        Object with(Connection connection);
    }

    /** The connections for requests of the application's calls. */
    public Connections pooled() {
        return pooled;
    }

    /** The connections that keep alive what is held. */
    public Connections own() {
        return own;
    }

    /**
     * Runs a script.
     *
     * @param reached asked on the connection after the script; if it says no, the whole is a failure
     */
    public Object eval(Connections connections, ScriptRun run, long deadlineNanos, Predicate<Connection> reached)
            throws Failure {
        return require(call(run.script().kind(), connections, run.slot(), deadlineNanos, connection -> {
            Object answer = run.on(connection);
            return reached.test(connection) ? answer : NOT_REACHED;
        }));
    }

    /** Runs several scripts on one server, back to back; an answer for each, which may be the server's error. */
    public List<Object> pipeline(
            Connections connections, List<ScriptRun> runs, long deadlineNanos, Predicate<Connection> reached)
            throws Failure {
        ScriptRun first = runs.get(0);
        @SuppressWarnings("unchecked")
        List<Object> answers = (List<Object>) require(
                call(first.script().kind(), connections, first.slot(), deadlineNanos, connection -> {
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
    public void locate(Connections connections, int slot, long deadlineNanos) throws Failure {
        if (connections == pooled && route.serverOf(slot) == null) {
            pooled.giveBack(borrow(pooled, slot, null, deadlineNanos));
        }
    }

    /** Does something with a connection to the server of a slot, or to any if the slot is -1; follows redirections. */
    public Object call(String kind, int slot, long deadlineNanos, Exchange exchange) throws Failure {
        return call(kind, pooled, slot, deadlineNanos, exchange);
    }

    private Object call(String kind, Connections connections, int slot, long deadlineNanos, Exchange exchange)
            throws Failure {
        long begin = scheduler.nanoTime();
        Failure failure = null;
        try {
            return call(connections, slot, deadlineNanos, exchange);
        } catch (Failure e) {
            failure = e;
            throw e;
        } finally {
            observer.ended(kind, begin, failure);
        }
    }

    /** Reads the server's messages to this client for as long as a connection lives, which is no request. */
    public void listen(Exchange exchange) throws Failure {
        call(pooled, -1, requestDeadlineNanos(), exchange);
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

    // A plain ping does not show whether it does. A node of a cluster that sends us elsewhere would take writes.
    /** Pings a server by a write that changes nothing: a server that answers but refuses writes cannot serve locks. */
    public Object ping(long deadlineNanos) throws Failure {
        return call("ping", -1, deadlineNanos, connection -> {
            try {
                return connection.executeCommand(new CommandArguments(Protocol.Command.DEL).add(Keys.NOBODYS));
            } catch (JedisRedirectionException e) {
                return 0L;
            }
        });
    }

    /** Does something with each primary, one after another. */
    public void callAll(long deadlineNanos, Exchange exchange) throws Failure {
        List<Connection> connections;
        long sent = scheduler.nanoTime();
        try {
            connections = route.borrowAll(connecting, deadlineNanos - sent);
        } catch (InterruptedException e) {
            throw interrupted(e);
        } catch (RuntimeException e) {
            throw Failure.notConnected(route.toString(), e);
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
                route.distrust(connection, Failure.isTimeout(e));
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
        return Failure.isTimeout(e) && scheduler.nanoTime() - sent < requestTimeout.toNanos() / 10 * 9;
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
            throw interrupted(e);
        } catch (RuntimeException e) {
            route.forget(slot);
            refreshLater();
            throw Failure.notConnected(route.toString(), e);
        }
    }

    private Failure interrupted(InterruptedException e) {
        Thread.currentThread().interrupt();
        return Failure.notSent(route.toString(), "interrupted while waiting for a connection", e);
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
        closedPools = List.copyOf(route.pools()); // before they close, so that later returns see them
        route.close();
        connecting.close();
    }
}
