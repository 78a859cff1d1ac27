package dev.lockstep.zookeeper;

import dev.lockstep.LockConfigurationException;
import dev.lockstep.LossReason;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.Renewable;
import dev.lockstep.spi.Renewer;
import dev.lockstep.spi.Scheduler;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeoutException;
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
final class Session implements Watcher, Renewable {
    /*
     * Overview: until when is a session certainly alive?
     *
     * The leader alone ends sessions: when it has heard nothing of one for its timeout T. A client's connection goes to
     * any server; a follower answers reads itself and tells the leader whom it has heard of only when the leader pings
     * it, every half tick. So an answer does not prove that the leader knows: the follower may be cut off from the
     * leader, or die before it has told. Two things do prove it:
     *
     * - Connecting. The leader itself creates the session or confirms it. So T counts from before the connection was
     *   tried (Hosts).
     * - An answer to `sync`, which makes the follower ask the leader, proves that the two were connected when it was
     *   sent, and that every earlier half tick's report has arrived. So it confirms those heartbeats that had been
     *   answered half a tick before. T is two ticks at least, hence half a tick a quarter of T at most.
     *
     * So a heartbeat is a `sync` every sixth of T, and T counts from the last one that another has confirmed. A leader
     * that is cut off from its followers answers for a while too; its successor then gives every session a whole T.
     *
     * All replies and events come on the event thread of the handle, in the order in which the server sent them; after the
     * end, failures may come on any thread.
     */
    private static final Logger log = LoggerFactory.getLogger(Session.class);
    private static final int BEATS_IN_TIMEOUT = 6;
    private static final int TICKS_IN_RENEWERS_TTL = 3;
    private static final int REPORTED_WITHIN = 4;

    private static final int SILENT_FOR = 4;
    private static final long LEAST_SILENCE_NANOS = 1_000_000_000;

    /** Long enough for the farewell to be on its way. */
    private static final int SENT_WITHIN_MILLIS = 10;

    /** A heartbeat that was answered and not yet confirmed. */
    private record Beat(long sentNanos, long answeredNanos) {}

    private final int generation;
    private final ZooKeeperBackend backend;
    private final BackendContext context;
    private final Scheduler scheduler;
    private final Hosts hosts;
    private final Requests requests;
    private final Watches watches = new Watches();
    private final CompletableFuture<ZooKeeper> handle = new CompletableFuture<>();
    private final CompletableFuture<Void> ready = new CompletableFuture<>();
    private final AtomicLong validUntilNanos;
    private final Set<NodeGrant> grants = ConcurrentHashMap.newKeySet();
    private final Queue<Runnable> untilConnected = new ConcurrentLinkedQueue<>();
    private final Queue<Runnable> untilValid = new ConcurrentLinkedQueue<>();
    private final Deque<Beat> beats = new ArrayDeque<>(); // only touched by the event thread
    private final AtomicBoolean ended = new AtomicBoolean();
    private volatile Duration timeout = Duration.ZERO;
    private volatile boolean closing;
    private volatile @Nullable Renewer<Session> renewer;

    /** Begins to connect. */
    Session(int generation, ZooKeeperBackend backend, BackendContext context, ZooKeeperEngine engine) {
        this.generation = generation;
        this.backend = backend;
        this.context = context;
        this.scheduler = context.scheduler();
        this.validUntilNanos = new AtomicLong(scheduler.nanoTime());
        this.hosts = new Hosts(engine.servers(), scheduler, context.retryBackoff());
        this.requests = new Requests(this, handle, engine.acl(), engine.rootAcl());
        try {
            handle.complete(engine.connect(context.ttl(), this, hosts));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    int generation() {
        return generation;
    }

    long id() {
        return handle.join().getSessionId();
    }

    ZooKeeper handle() {
        return handle.join();
    }

    Requests requests() {
        return requests;
    }

    Watches watches() {
        return watches;
    }

    Set<NodeGrant> grants() {
        return grants;
    }

    /** Done when the first connection stands; exceptional if it is refused. */
    CompletableFuture<Void> ready() {
        return ready;
    }

    /** The timeout that the server granted. */
    Duration timeout() {
        return timeout;
    }

    @Override
    public long validUntilNanos() {
        return validUntilNanos.get();
    }

    boolean isValid() {
        return validUntilNanos.get() - scheduler.nanoTime() > 0;
    }

    // ---------------------------------------------------------------- events

    @Override
    public void process(WatchedEvent event) {
        if (event.getType() != Event.EventType.None) {
            watches.fire(event.getPath(), event.getType());
            return;
        }
        switch (event.getState()) {
            case SyncConnected -> connected();
            case Expired -> end(LossReason.SESSION_ENDED);
            case AuthFailed -> refused();
            default -> {}
        }
    }

    private void connected() {
        boolean first = renewer == null;
        timeout = Duration.ofMillis(handle.join().getSessionTimeout());
        long connectedNanos = hosts.connectedNanos();
        backend.contact(connectedNanos);
        confirm(connectedNanos);
        if (first) {
            startHeartbeat();
        }
        ready.complete(null);
        drain(untilConnected);
        if (!first) {
            backend.reconnected(this);
        }
    }

    private void refused() {
        ready.completeExceptionally(new LockConfigurationException(
                null, "ZooKeeper refuses this client's authentication. Check its credentials or its login context."));
        end(LossReason.SESSION_ENDED);
        closeInBackground();
    }

    /** The session is over, or its handle cannot go on. */
    private void end(LossReason reason) {
        if (ended.compareAndSet(false, true)) {
            stopHeartbeat();
            backend.sessionEnded(this, reason);
            drain(untilConnected);
            drain(untilValid);
        }
    }

    // ---------------------------------------------------------------- heartbeat

    private void startHeartbeat() {
        Duration renewersTtl = timeout.multipliedBy(TICKS_IN_RENEWERS_TTL).dividedBy(BEATS_IN_TIMEOUT);
        BackendContext ticking = new BackendContext(
                context.namespace(),
                context.clientName(),
                context.clientId(),
                renewersTtl,
                context.requestTimeout(),
                context.retryBackoff(),
                context.executor(),
                scheduler);
        Renewer<Session> made = new Renewer<>(ticking, 1, LossReason.SESSION_ENDED, batch -> heartbeat());
        renewer = made;
        made.register(this);
    }

    private void stopHeartbeat() {
        Renewer<Session> known = renewer;
        if (known != null) {
            known.close();
        }
    }

    private CompletableFuture<List<Session>> heartbeat() {
        CompletableFuture<List<Session>> answer = new CompletableFuture<>();
        long sent = scheduler.nanoTime();
        Scheduler.Timer limit = scheduler.schedule(
                context.requestTimeout().toNanos(), () -> answer.completeExceptionally(new TimeoutException()));
        long bearable = Math.max(timeout.toNanos() / SILENT_FOR, LEAST_SILENCE_NANOS);
        Scheduler.Timer silence = scheduler.schedule(bearable, this::dropConnection);
        requests.sync(code -> {
            limit.cancel();
            silence.cancel();
            if (code == Code.OK) {
                beat(sent);
                answer.complete(List.of());
            } else if (Replies.isEnd(code)) {
                answer.complete(List.of(this));
            } else {
                answer.completeExceptionally(Replies.failure(null, "renew the session at", "/", code));
            }
        });
        return answer;
    }

    /**
     * Leaves a server that says nothing, for another one. ZooKeeper's client would bear it for two thirds of the timeout, and
     * so lose what a change of servers can save.
     */
    private void dropConnection() {
        log.debug("Client '{}': the server is silent, trying another", context.clientName());
        try {
            handle.join().getTestable().closeSocket();
        } catch (IOException e) {
            log.debug("Client '{}': closing the connection failed", context.clientName(), e);
        }
    }

    private void beat(long sent) {
        long reported = sent - timeout.toNanos() / REPORTED_WITHIN;
        for (Beat beat = beats.peek(); beat != null && reported - beat.answeredNanos >= 0; beat = beats.peek()) {
            confirm(beat.sentNanos);
            beats.remove();
        }
        beats.add(new Beat(sent, scheduler.nanoTime()));
    }

    /** The leader heard of the session after this time. */
    private void confirm(long touchedNanos) {
        long deadline = Renewer.deadline(touchedNanos, timeout);
        validUntilNanos.accumulateAndGet(deadline, (known, next) -> next - known > 0 ? next : known);
        if (isValid()) {
            drain(untilValid);
        }
    }

    @Override
    public void renewedUntil(long deadlineNanos) {
        // See the overview: an answer says less about the leader than this assumes.
    }

    @Override
    public void signalLost(LossReason reason) {
        end(reason);
    }

    // ---------------------------------------------------------------- later

    /** Repeats a request that failed, when that makes sense; after the end at once, to fail for good. */
    void retry(Code code, Runnable again) {
        if (code == Code.CONNECTIONLOSS) {
            // The event of the next connection, or of the end, comes after this reply.
            untilConnected.add(again);
            if (ended.get()) {
                drain(untilConnected);
            }
        } else {
            // By way of the server, so that it goes on where replies come.
            scheduler.schedule(context.retryBackoff().delay(2).toNanos(), () -> requests.sync(reply -> again.run()));
        }
    }

    /** Does something when a grant of this session would be valid. */
    void whenValid(Runnable action) {
        untilValid.add(action);
        if (isValid() || ended.get()) {
            drain(untilValid);
        }
    }

    private static void drain(Queue<Runnable> actions) {
        for (int i = actions.size(); i > 0; i--) {
            Runnable next = actions.poll();
            if (next != null) {
                next.run();
            }
        }
    }

    /** What a reply's code means for those who asked: after the end there is no next connection. */
    Code effective(Code code) {
        return code == Code.CONNECTIONLOSS && (closing || ended.get()) ? Code.SESSIONEXPIRED : code;
    }

    void answered(long sentNanos) {
        backend.contact(sentNanos);
    }

    long nanoTime() {
        return scheduler.nanoTime();
    }

    /**
     * Ends the session at the server. Waits for that only if something would be left otherwise, since ZooKeeper's client
     * takes a tenth of a second for it; what is not done by then goes on in the background.
     */
    void close(boolean somethingLeft, Duration atMost) {
        closing = true;
        ended.set(true);
        stopHeartbeat();
        Thread closer = closeInBackground();
        try {
            closer.join(somethingLeft ? Math.max(1, atMost.toMillis()) : SENT_WITHIN_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        drain(untilConnected);
        drain(untilValid);
    }

    private Thread closeInBackground() {
        Thread closer = new Thread(this::closeHandle, "lockstep-zookeeper-close-" + context.clientName());
        closer.setDaemon(true);
        closer.start();
        return closer;
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
        return "session " + generation + " of client '" + context.clientName() + "'";
    }
}
