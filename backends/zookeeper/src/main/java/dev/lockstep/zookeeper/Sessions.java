package dev.lockstep.zookeeper;

import dev.lockstep.LockUnavailableException;
import dev.lockstep.LockstepException;
import dev.lockstep.LossReason;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.Backoff;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** The sessions of one client, and the claims that have no answer yet. Safe for use by many threads. */
final class Sessions {
    /*
     * Overview. A client has one session, the main one, unless it has many nodes: the server ends a session by one
     * transaction that lists all its nodes, and cannot read its own log again if that is too long. So a session takes nodes
     * up to a limit (NodeRoom). When all are full, an extra one is opened, and closed again after it was empty for a
     * while. New nodes go to the first session that has room, so that the extra ones become empty.
     *
     * Each session has its own heartbeat and its own end, which concerns its own grants and claims alone. When the main
     * session ends, another takes its place; an extra one is not replaced.
     */
    private static final Logger log = LoggerFactory.getLogger(Sessions.class);

    /** How often the log says that a session has ended. */
    private static final Duration INFORM_EACH = Duration.ofMinutes(1);

    private static final int PATIENT = 10;

    /** Long enough for the end of a session to be sent. */
    private static final Duration SENT_WITHIN = Duration.ofMillis(10);

    private final ZooKeeperEngine engine;
    private final BackendContext context;
    private final Backoff whenRefused;
    private final AtomicInteger refusals = new AtomicInteger(); // in a row
    private final Set<ZooKeeperClaim> pending = ConcurrentHashMap.newKeySet();
    private final Set<HolderWatch> holderWatches = ConcurrentHashMap.newKeySet();
    private boolean informed; // guarded by this, as the next
    private long informedNanos;
    private final AtomicBoolean checking = new AtomicBoolean();
    private final List<Session> extras = new CopyOnWriteArrayList<>(); // written under this, as the next three
    private volatile Session main;
    private volatile boolean closed;
    private int opened = 1;

    @SuppressWarnings("this-escape") // its events wait for the monitor
    Sessions(ZooKeeperEngine engine, BackendContext context) {
        this.engine = engine;
        this.context = context;
        // Servers refuse a client after they have made its session, and keep that for the ttl.
        this.whenRefused = new Backoff(context.ttl().dividedBy(3), context.ttl().dividedBy(2));
        synchronized (this) {
            this.main = new Session(
                    opened, this, context, engine, context.scheduler().nanoTime());
        }
    }

    /** The session that is always there, for all that makes no nodes. */
    Session main() {
        return main;
    }

    boolean isClosed() {
        return closed;
    }

    /** The sessions that have been connected. */
    List<Session> connected() {
        if (extras.isEmpty()) {
            return List.of(main);
        }
        List<Session> all = new ArrayList<>(List.of(main));
        extras.stream().filter(Session::isReady).forEach(all::add);
        return all;
    }

    /** When the last answered request was sent, in the session that has waited longest. */
    long lastContactNanos() {
        long oldest = main.lastContactNanos();
        if (!extras.isEmpty()) {
            for (Session session : connected()) {
                long contact = session.lastContactNanos();
                oldest = contact - oldest < 0 ? contact : oldest;
            }
        }
        return oldest;
    }

    // ---------------------------------------------------------------- claims

    void add(ZooKeeperClaim claim) {
        pending.add(claim);
    }

    void forget(ZooKeeperClaim claim) {
        pending.remove(claim);
    }

    /**
     * A claim waits. Events arrive by themselves while the client is connected, but no wait may depend on a single event:
     * what claims wait for is checked again after each third of the ttl.
     */
    void checkWaits() {
        if (!checking.get() && checking.compareAndSet(false, true)) {
            context.scheduler().schedule(context.ttl().toNanos() / 3, () -> {
                checking.set(false);
                if (!closed && !pending.isEmpty()) {
                    pending.forEach(ZooKeeperClaim::checkBlocker);
                    checkWaits();
                }
            });
        }
    }

    /** The exception for a claim that its session cannot answer; null if it can. */
    @Nullable
    LockstepException failure(@Nullable Session asked, String lockName) {
        if (closed) {
            return context.closedFailure(lockName);
        }
        return asked != null && asked.isRefused() ? refusal(asked, lockName) : null;
    }

    // ---------------------------------------------------------------- room

    /**
     * A session that has room for a node, which is reserved there; opened if there is none.
     *
     * @param bytes the length of the node's path
     * @throws LockUnavailableException if none can be opened
     */
    Session reserve(int bytes, String lockName) {
        Session found = find(bytes);
        return found != null ? found : findOrOpen(bytes, lockName);
    }

    private @Nullable Session find(int bytes) {
        Session first = main;
        if (first.room().reserve(bytes)) {
            return first;
        }
        for (Session extra : extras) {
            if (extra.room().reserve(bytes)) {
                return extra;
            }
        }
        return null;
    }

    private synchronized Session findOrOpen(int bytes, String lockName) {
        Session found = find(bytes);
        if (found != null) {
            return found;
        }
        if (closed) {
            throw context.closedFailure(lockName);
        }
        Session extra;
        long now = context.scheduler().nanoTime();
        try {
            extra = new Session(++opened, this, context, engine, now);
        } catch (RuntimeException | Error e) {
            throw new LockUnavailableException(
                    lockName,
                    "Lock '" + lockName + "': this client's sessions at " + engine
                            + " are full, and another cannot be opened: " + e,
                    e);
        }
        extra.room().reserve(bytes);
        if (extras.isEmpty()) {
            closeIdleLater();
        }
        extras.add(extra);
        log.debug("Client '{}': opening session {}", context.clientName(), opened);
        giveUpLater(extra, now);
        return extra;
    }

    /** An extra session that is refused, though the servers answer, must not keep its claims waiting. */
    private void giveUpLater(Session extra, long sinceNanos) {
        context.scheduler().schedule(context.requestTimeout().toNanos(), () -> {
            if (extra.isReady() || extra.hasEnded()) {
                return;
            }
            if (main.lastContactNanos() - sinceNanos < 0) {
                giveUpLater(extra, sinceNanos); // no client is admitted: an outage, which the core watches
                return;
            }
            remove(extra);
            extra.beginClose();
            // It may have been connected just now.
            extra.grants().forEach(grant -> grant.revoke(LossReason.SESSION_ENDED));
            failClaims(
                    extra,
                    "no server at " + engine + " has accepted another session of this client within "
                            + context.requestTimeout() + ". Check maxClientCnxns of the servers.");
        });
    }

    private void failClaims(Session session, String why) {
        pending.forEach(claim -> {
            String name = claim.request().name();
            claim.fail(session, new LockUnavailableException(name, "Lock '" + name + "': " + why));
        });
    }

    private synchronized void remove(Session extra) {
        extras.remove(extra);
    }

    private void closeIdleLater() {
        context.scheduler().schedule(context.ttl().toNanos(), this::closeIdle);
    }

    private synchronized void closeIdle() {
        for (Session extra : extras) {
            if (extra.room().retireIfIdle()) {
                extras.remove(extra);
                extra.beginClose();
            }
        }
        if (!extras.isEmpty() && !closed) {
            closeIdleLater();
        }
    }

    // ---------------------------------------------------------------- ends

    /** A session is over: its grants are lost, and its claims ask again. */
    void sessionEnded(Session lost) {
        lost.grants().forEach(grant -> grant.revoke(LossReason.SESSION_ENDED));
        if (lost.isRefused()) {
            // Its claims must not wait for the next session, which is unlikely to be accepted.
            int inARow = refusals.incrementAndGet();
            if (inARow == 1) {
                log.warn(
                        "Client '{}': {}",
                        context.clientName(),
                        refusal(lost, null).getMessage());
            }
            pending.forEach(
                    claim -> claim.fail(lost, refusal(lost, claim.request().name())));
            if (isMain(lost)) {
                renewLater(lost, lost.isLoginFailed() ? patience() : whenRefused.delay(inARow));
                return;
            }
        }
        if (isMain(lost)) {
            renewMain(lost);
        } else {
            remove(lost);
            pending.forEach(ZooKeeperClaim::ask);
        }
    }

    private synchronized boolean isMain(Session session) {
        return session == main;
    }

    /**
     * The failure of the first connection if the client is refused: whatever the reason, it is a matter of
     * configuration.
     */
    LockstepException refusal(@Nullable String lockName) {
        return Failure.failure(lockName, "open a session", "", engine.toString(), Code.AUTHFAILED);
    }

    /** The exception for claims that need a session later, while the servers refuse this client one. */
    private LockstepException refusal(Session refused, @Nullable String lockName) {
        if (!refused.isLoginFailed()) {
            return refusal(lockName);
        }
        return new LockUnavailableException(
                lockName,
                (lockName == null ? "" : "Lock '" + lockName + "': ") + "cannot open a session at " + engine
                        + ": the login failed here, before a server was asked."
                        + " Check the login context and what it needs, such as Kerberos' KDC.");
    }

    /** A request of a session was answered, so the server has accepted this client. */
    void sessionAccepted() {
        if (refusals.get() != 0) {
            refusals.set(0);
        }
    }

    private Duration patience() {
        return context.retryBackoff().delay(PATIENT);
    }

    private void renewLater(Session lost, Duration delay) {
        context.scheduler().schedule(delay.toNanos(), () -> renewMain(lost));
    }

    private void renewMain(Session lost) {
        synchronized (this) {
            if (closed || main != lost) {
                return;
            }
            try {
                main = new Session(opened + 1, this, context, engine, lost.lastContactNanos());
                opened++;
            } catch (RuntimeException | Error e) {
                // Any failure, even a lack of threads or memory: without another try there would never be a session
                // again.
                log.warn(
                        "Client '{}': cannot begin another session at {}, trying again: {}",
                        context.clientName(),
                        engine,
                        e.toString());
                log.debug("Client '{}': cannot begin another session", context.clientName(), e);
                lost.forgetRefusal();
                renewLater(lost, patience());
                return;
            }
        }
        if (refusals.get() == 0) {
            // Sessions that end one after the other, as with a server that is overloaded, must not fill the log.
            log.atLevel(mayInform() ? Level.INFO : Level.DEBUG)
                    .log("Client '{}': its session at {} ended, opening another", context.clientName(), engine);
        }
        pending.forEach(ZooKeeperClaim::ask);
        holderWatches.forEach(HolderWatch::setAgain);
    }

    private synchronized boolean mayInform() {
        long now = context.scheduler().nanoTime();
        boolean due = !informed || now - informedNanos >= INFORM_EACH.toNanos();
        if (due) {
            informed = true;
            informedNanos = now;
        }
        return due;
    }

    /** From now on a watch is set again in each new session. */
    void add(HolderWatch watch) {
        holderWatches.add(watch);
    }

    void remove(HolderWatch watch) {
        holderWatches.remove(watch);
    }

    /** A session is connected again. Events of its watches come by themselves; to look costs little and is certain. */
    void reconnected(Session current) {
        pending.forEach(claim -> claim.look(current));
        if (isMain(current)) {
            holderWatches.forEach(HolderWatch::setAgain);
        }
    }

    void close() {
        List<Session> all;
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            all = new ArrayList<>(extras);
            all.add(main);
        }
        // Waits only if something would be left otherwise: ZooKeeper's client takes a tenth of a second to close.
        boolean wait = !pending.isEmpty()
                || all.stream().anyMatch(session -> !session.grants().isEmpty());
        Duration patience = wait ? context.requestTimeout() : SENT_WITHIN;
        long end = context.scheduler().nanoTime() + patience.toNanos();
        all.forEach(Session::beginClose);
        all.forEach(session -> session.awaitClose(end));
        all.forEach(session -> session.grants().forEach(grant -> grant.revoke(LossReason.CLIENT_CLOSED)));
        pending.forEach(
                claim -> claim.fail(null, context.closedFailure(claim.request().name())));
    }
}
