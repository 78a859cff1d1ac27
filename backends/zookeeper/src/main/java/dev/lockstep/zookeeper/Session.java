package dev.lockstep.zookeeper;

import dev.lockstep.LockUnavailableException;
import dev.lockstep.LockstepException;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.Backoff;
import dev.lockstep.spi.DelayedCheck;
import dev.lockstep.spi.Scheduler;
import java.io.IOException;
import java.time.Duration;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One ZooKeeper session, from its first connection to its end. Everything that was made in it ends with it; its
 * successor is another object, so that late events of the old one reach nobody. Safe for use by many threads.
 */
final class Session implements Watcher {
    /*
     * Overview. All replies and events come on the event thread of the handle, in the order in which the server sent them.
     * Replies after the end come on a thread of the session's own. The heartbeat knows until when the session is alive.
     */
    private static final Logger log = LoggerFactory.getLogger(Session.class);

    private final int number;
    private final Sessions sessions;
    private final ZooKeeperEngine engine;
    private final BackendContext context;
    private final Scheduler scheduler;
    private final Hosts hosts;
    private final Link link;
    private final Heartbeat heartbeat;
    private final Format format;
    private final Watches watches = new Watches();
    private final LastHolds lastHolds = new LastHolds();
    private final CompletableFuture<ZooKeeper> handle = new CompletableFuture<>();
    private final CompletableFuture<Void> ready = new CompletableFuture<>();
    private final Set<ZooKeeperGrant> grants = ConcurrentHashMap.newKeySet();
    private final Queue<Runnable> untilConnected = new ConcurrentLinkedQueue<>();
    private final Queue<Runnable> untilValid = new ConcurrentLinkedQueue<>();
    private final DelayedCheck<QueueRecipe> queueChecks;
    private final AtomicBoolean ended = new AtomicBoolean();
    private final AtomicLong lastContactNanos;
    private final NodeRoom room = new NodeRoom();
    private final CompletableFuture<Void> closed = new CompletableFuture<>();
    private final SessionThreads threads;
    private @Nullable String shown; // user and password; guarded by this
    private volatile boolean closing;
    private volatile boolean refused;
    private volatile boolean loginFailed;

    /**
     * Begins to connect.
     *
     * @param number distinguishes the sessions of a client, in logs
     * @param contactNanos when the servers are taken to have answered last
     */
    Session(int number, Sessions sessions, BackendContext context, ZooKeeperEngine engine, long contactNanos) {
        this.number = number;
        this.sessions = sessions;
        this.engine = engine;
        this.context = context;
        this.lastContactNanos = new AtomicLong(contactNanos);
        this.scheduler = context.scheduler();
        this.hosts = new Hosts(engine.servers(), scheduler, context.retryBackoff());
        this.link = new Link(this, handle, engine, new Keys(context.namespace()), context.requests());
        this.heartbeat = new Heartbeat(this, context);
        this.format = new Format(this, context.namespace(), engine.toString());
        this.queueChecks = new DelayedCheck<>(scheduler, QueueRecipe::watchQueue);
        this.threads = new SessionThreads(context.clientName());
        handle.complete(engine.connect(context.ttl(), this, hosts));
        authenticate();
    }

    /** Shows the password, or the new one if it has changed. */
    private synchronized void authenticate() {
        try {
            shown = engine.authenticate(handle.join(), shown);
        } catch (LockUnavailableException e) {
            log.warn("Client '{}': {}", context.clientName(), e.getMessage()); // tried again at the next connection
        }
    }

    int number() {
        return number;
    }

    long id() {
        return handle.join().getSessionId();
    }

    ZooKeeper handle() {
        return handle.join();
    }

    Link link() {
        return link;
    }

    Format format() {
        return format;
    }

    NodeRoom room() {
        return room;
    }

    Watches watches() {
        return watches;
    }

    LastHolds lastHolds() {
        return lastHolds;
    }

    /** Checks claims that were granted at once: those that still hold 10 to 20 ms later watch the queue. */
    DelayedCheck<QueueRecipe> queueChecks() {
        return queueChecks;
    }

    Set<ZooKeeperGrant> grants() {
        return grants;
    }

    /** Done when the first connection stands; exceptional if it is refused. */
    CompletableFuture<Void> ready() {
        return ready;
    }

    boolean isReady() {
        return ready.isDone() && !ready.isCompletedExceptionally();
    }

    boolean hasEnded() {
        return ended.get();
    }

    /** When the last answered request was sent. */
    long lastContactNanos() {
        return lastContactNanos.get();
    }

    /** Whether this client is not believed to be who it says, or could not log in, so that the session was given up. */
    boolean isRefused() {
        return refused;
    }

    /** It is unknown again whether this client would be refused. */
    void forgetRefusal() {
        refused = false;
    }

    /** Whether it was the login that failed, here and before any server was asked. */
    boolean isLoginFailed() {
        return loginFailed;
    }

    /** The timeout that the server granted. */
    Duration timeout() {
        return heartbeat.timeout();
    }

    long validUntilNanos() {
        return heartbeat.validUntilNanos();
    }

    boolean isValid() {
        return validUntilNanos() - scheduler.nanoTime() > 0;
    }

    @Override
    public void process(WatchedEvent event) {
        if (event.getType() != Event.EventType.None) {
            format.changed(event.getPath());
            watches.fire(event.getPath(), event.getType());
            return;
        }
        if (event.getState() == null) {
            refused(); // ZooKeeper's client could not even begin to authenticate
            return;
        }
        switch (event.getState()) {
            case SyncConnected -> connected();
            case Expired -> end();
            case AuthFailed -> refused();
            default -> {}
        }
    }

    private void connected() {
        if (ended.get()) {
            return; // a handle whose login failed goes on without it, and is closed by then
        }
        boolean first = !ready.isDone();
        authenticate();
        long connectedNanos = hosts.connectedNanos();
        contact(connectedNanos);
        heartbeat.connected(Duration.ofMillis(handle.join().getSessionTimeout()), connectedNanos);
        if (first) {
            format.check();
        }
        ready.complete(null);
        drain(untilConnected);
        if (!first) {
            sessions.reconnected(this);
        }
    }

    /** The handle is dead if a server has refused this client. If the login failed here, it would go on without it. */
    private void refused() {
        if (ended.compareAndSet(false, true)) {
            loginFailed = handle.join().getState() != ZooKeeper.States.AUTH_FAILED;
            refused = true;
            ready.completeExceptionally(sessions.refusal(null));
            over();
            closeInBackground();
        }
    }

    /** The session is over. */
    void end() {
        if (ended.compareAndSet(false, true)) {
            over();
        }
    }

    private void over() {
        heartbeat.close();
        sessions.sessionEnded(this);
        drainAll();
    }

    /** The session is valid for longer. */
    void renewed() {
        if (isValid()) {
            drain(untilValid);
        }
    }

    /**
     * Does what a reply leads to. ZooKeeper's client delivers the replies of a handle that has ended on any thread and under
     * a mutex of its own, but users' code may be part of what they lead to.
     */
    void replied(Runnable reply) {
        if (ended.get()) {
            threads.runInOrder(reply);
        } else {
            reply.run();
        }
    }

    /** Repeats a request that failed, if a retry can help; at once if the session has ended, so that it fails finally. */
    void retry(Code code, Runnable again) {
        // Not by Retry of the SPI, which waits for a time: the event of the next connection is the time to try again,
        // the
        // end of the session ends all tries, and the request must go on where replies come, in their order.
        if (code == Code.CONNECTIONLOSS) {
            untilConnected.add(again); // the event of the next connection, or of the end, comes after this reply
            if (ended.get()) {
                drain(untilConnected);
            }
        } else {
            retryAfter(context.retryBackoff().delay(2), again);
        }
    }

    /** Repeats a request that was refused and is unlikely to succeed soon. */
    void retryRefused(int failures, Runnable again) {
        Duration longest = context.ttl().dividedBy(3);
        retryAfter(new Backoff(context.retryBackoff().min(), longest).delay(failures), again);
    }

    private void retryAfter(Duration delay, Runnable again) {
        // Sends a sync first, so that the action runs on the thread of replies.
        scheduler.schedule(delay.toNanos(), () -> link.sync(reply -> again.run()));
    }

    /** Does something when a grant of this session would be valid. */
    void whenValid(Runnable action) {
        untilValid.add(action);
        if (isValid() || ended.get()) {
            drain(untilValid);
        }
    }

    private void drainAll() {
        drain(untilConnected);
        drain(untilValid);
    }

    private static void drain(Queue<Runnable> actions) {
        for (int i = actions.size(); i > 0; i--) {
            Runnable next = actions.poll();
            if (next != null) {
                next.run();
            }
        }
    }

    /** The meaning of a reply's code for the sender: after the end there is no next connection. */
    Code effective(Code code) {
        if (code == Code.AUTHFAILED) {
            refused(); // the handle is dead, even without an event
        }
        if (refused) {
            // Whatever the code: a handle whose login failed gets answers until it is closed; then its session ends.
            return loginFailed ? Code.SESSIONEXPIRED : Code.AUTHFAILED;
        }
        boolean unanswered = Failure.isEnd(code) || code == Code.CONNECTIONLOSS;
        return unanswered && (closing || ended.get()) ? Code.SESSIONEXPIRED : code;
    }

    void answered(long sentNanos) {
        contact(sentNanos);
        sessions.sessionAccepted();
    }

    private void contact(long sentNanos) {
        lastContactNanos.accumulateAndGet(sentNanos, (known, next) -> next - known > 0 ? next : known);
    }

    /** A write that was sent at that time was answered. */
    void committed(long sentNanos) {
        heartbeat.committed(sentNanos);
    }

    /** The failure of a request, as text for people. */
    LockstepException failure(@Nullable String lockName, String what, String path, Code code) {
        if (code == Code.NOAUTH) {
            authenticate(); // perhaps the password has changed, and the next try has the right one
        }
        return Failure.failure(lockName, what, path, engine.toString(), code);
    }

    long nanoTime() {
        return scheduler.nanoTime();
    }

    /** Leaves the server for another one. ZooKeeper's client may wait there for its connection to close. */
    void leaveServer() {
        threads.start("leave", () -> {
            try {
                handle.join().updateServerList(engine.toString()); // Hosts wants a new connection for it
            } catch (IOException e) {
                log.debug("Client '{}': closing the connection failed", context.clientName(), e);
            }
        });
    }

    /** Begins to end the session on the server. */
    void beginClose() {
        closing = true;
        ended.set(true);
        heartbeat.close();
        closeInBackground();
    }

    /** Waits for the end of the session on the server, until a time; unfinished work continues in the background. */
    void awaitClose(long endNanos) {
        ZooKeeperBackend.await(closed, Duration.ofNanos(Math.max(1, endNanos - scheduler.nanoTime())));
        drainAll();
    }

    private void closeInBackground() {
        threads.start("close", () -> {
            closeHandle();
            threads.runInOrder(
                    () -> { // after the replies that closing has caused
                        drainAll();
                        closed.complete(null);
                    });
        });
    }

    private void closeHandle() {
        try {
            handle.join().close();
        } catch (InterruptedException e) {
            log.debug("Client '{}': interrupted while closing its session", context.clientName());
        }
    }

    /** Without anything of the configuration: ZooKeeper's client logs it. */
    @Override
    public String toString() {
        return "session " + number + " of client '" + context.clientName() + "'";
    }
}
