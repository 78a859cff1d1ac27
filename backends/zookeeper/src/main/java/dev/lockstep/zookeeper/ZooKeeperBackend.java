package dev.lockstep.zookeeper;

import dev.lockstep.EngineInfo;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockInfo;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.LockstepException;
import dev.lockstep.LossReason;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.Backoff;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Scheduler;
import dev.lockstep.spi.Traits;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One client's side of ZooKeeper: its current session, and the claims that have no answer yet. Safe for use by many threads. */
final class ZooKeeperBackend implements LockBackend {
    private static final Logger log = LoggerFactory.getLogger(ZooKeeperBackend.class);
    private static final int PATIENT = 10;

    private final ZooKeeperEngine engine;
    private final BackendContext context;
    private final Names names;
    private final AtomicLong lastContactNanos;
    private final AtomicInteger refusals = new AtomicInteger(); // in a row
    private final Backoff whenRefused;
    private final Set<NodeClaim> pending = ConcurrentHashMap.newKeySet();
    private volatile Session session; // written under this
    private volatile boolean closed; // written under this
    private Traits traits;

    @SuppressWarnings("this-escape")
    ZooKeeperBackend(ZooKeeperEngine engine, BackendContext context) {
        this.engine = engine;
        this.context = context;
        this.names = new Names(context.namespace());
        // Servers refuse a client after they have made its session, and keep that for the ttl.
        this.whenRefused = new Backoff(context.ttl().dividedBy(3), context.ttl().dividedBy(2));
        this.lastContactNanos = new AtomicLong(context.scheduler().nanoTime());
        this.traits = traits(Duration.ZERO);
        this.session = new Session(1, this, context, engine);
    }

    private Traits traits(Duration minTtl) {
        boolean queued = engine.isQueued();
        return new Traits(true, queued, queued, queued, minTtl);
    }

    /** Waits for the first connection, and checks what it leads to. Blocks for the request timeout at most. */
    void open() {
        long endNanos = scheduler().nanoTime() + context.requestTimeout().toNanos();
        try {
            Session first = session;
            await(first.ready(), endNanos, "No ZooKeeper server at " + engine + " has accepted a session");
            CompletableFuture<Code> root = new CompletableFuture<>();
            lookAtRoot(first, root);
            checkRoot(await(root, endNanos, "ZooKeeper at " + engine + " has not answered"));
        } catch (RuntimeException e) {
            close();
            throw e;
        }
        Duration granted = session.timeout();
        if (granted.compareTo(context.ttl()) > 0) {
            traits = traits(granted); // the core refuses the ttl
        } else if (granted.compareTo(context.ttl()) < 0) {
            log.info(
                    "Client '{}': the server allows sessions of {} at most, not of the ttl, {}",
                    context.clientName(),
                    granted,
                    context.ttl());
        }
    }

    /** Waits until a time; an interrupt is kept for later, since connecting cannot report it. */
    private <T extends @Nullable Object> T await(CompletableFuture<T> reply, long endNanos, String otherwise) {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return reply.get(endNanos - scheduler().nanoTime(), TimeUnit.NANOSECONDS);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } catch (ExecutionException e) {
            throw e.getCause() instanceof RuntimeException cause ? cause : new CompletionException(e.getCause());
        } catch (TimeoutException e) {
            throw new LockUnavailableException(
                    null,
                    otherwise + " within " + context.requestTimeout()
                            + ". Check the addresses, that the servers are up and have a quorum, and TLS.");
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Over TLS, a server that refuses the client may be gone before its refusal is read: the next connection tells. */
    private static void lookAtRoot(Session session, CompletableFuture<Code> answer) {
        session.requests().exists("/", code -> {
            if (code == Code.CONNECTIONLOSS && !answer.isDone()) {
                session.retry(code, () -> lookAtRoot(session, answer));
            } else {
                answer.complete(code);
            }
        });
    }

    private void checkRoot(Code code) {
        if (code == Code.NONODE) {
            throw new LockConfigurationException(
                    null, "The chroot of " + engine + " does not exist in ZooKeeper. Create it first.");
        }
        if (code != Code.OK) {
            throw Replies.failure(null, "connect to", engine.toString(), code);
        }
    }

    // ---------------------------------------------------------------- what claims need

    Names names() {
        return names;
    }

    boolean isQueued() {
        return engine.isQueued();
    }

    String clientId() {
        return context.clientId();
    }

    Scheduler scheduler() {
        return context.scheduler();
    }

    Session session() {
        return session;
    }

    boolean isClosed() {
        return closed;
    }

    void forget(NodeClaim claim) {
        pending.remove(claim);
    }

    /** A request that was sent then has been answered. */
    void contact(long sentNanos) {
        lastContactNanos.accumulateAndGet(sentNanos, (known, next) -> next - known > 0 ? next : known);
    }

    // ---------------------------------------------------------------- sessions

    /** A session is over: opens another, and asks in it for what still waits. */
    void sessionEnded(Session lost) {
        lost.grants().forEach(grant -> grant.revoke(LossReason.SESSION_ENDED));
        if (lost.isRefused()) {
            // Nothing shall wait for the next one, which will hardly fare better.
            int inARow = refusals.incrementAndGet();
            if (inARow == 1) {
                log.warn(
                        "Client '{}': {}",
                        context.clientName(),
                        refusal(lost, null).getMessage());
            }
            pending.forEach(claim -> claim.fail(refusal(lost, claim.request().name())));
            renewLater(lost, lost.isLoginFailed() ? patience() : whenRefused.delay(inARow));
        } else {
            renewSession(lost);
        }
    }

    /** What the first connection fails with if this client is not let in: whatever the reason, it was set up like that. */
    LockstepException refusal(@Nullable String lockName) {
        return Replies.failure(lockName, "open a session at", engine.toString(), Code.AUTHFAILED);
    }

    /** What those get who need a session later, while this client is let have none. */
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

    /** A request of a session was answered, so that this client was let in. */
    void letIn() {
        if (refusals.get() != 0) {
            refusals.set(0);
        }
    }

    private Duration patience() {
        return context.retryBackoff().delay(PATIENT);
    }

    private void renewLater(Session lost, Duration delay) {
        scheduler().schedule(delay.toNanos(), () -> renewSession(lost));
    }

    private void renewSession(Session lost) {
        Session fresh;
        synchronized (this) {
            if (closed || session != lost) {
                return;
            }
            try {
                fresh = new Session(lost.generation() + 1, this, context, engine);
            } catch (RuntimeException | Error e) {
                // Whatever it is, no thread or no memory too: without another try there would never be a session again.
                log.warn(
                        "Client '{}': cannot begin another session, trying again: {}",
                        context.clientName(),
                        e.toString());
                log.debug("Client '{}': cannot begin another session", context.clientName(), e);
                lost.forgetRefusal();
                renewLater(lost, patience());
                return;
            }
            session = fresh;
        }
        if (refusals.get() == 0) {
            log.info("Client '{}': its ZooKeeper session ended, opening another", context.clientName());
        }
        pending.forEach(claim -> claim.ask(fresh));
    }

    /** A session is connected again. Events of its watches come by themselves; to look costs little and is certain. */
    void reconnected(Session current) {
        pending.forEach(claim -> claim.look(current));
    }

    // ---------------------------------------------------------------- the SPI

    @Override
    public Traits traits() {
        return traits;
    }

    @Override
    public Claim submit(ClaimRequest request) {
        NodeClaim claim = new NodeClaim(this, request);
        pending.add(claim);
        Session current = session;
        claim.ask(current);
        if (closed) {
            claim.fail(closedFailure(request.name()));
        } else if (current.isRefused()) {
            claim.fail(refusal(current, request.name()));
        }
        await(claim.answered(), request.blockAtMost());
        return claim;
    }

    /** Waits in the calling thread for its one round trip; an interrupt ends that, and is left to the core. */
    static void await(CompletableFuture<?> reply, Duration atMost) {
        if (atMost.isZero() || reply.isDone()) {
            return;
        }
        try {
            reply.get(atMost.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            // The core looks at the reply itself, or goes on waiting for it.
        }
    }

    @Override
    public long lastContactNanos() {
        return lastContactNanos.get();
    }

    @Override
    public CompletionStage<Void> ping() {
        CompletableFuture<Void> answer = new CompletableFuture<>();
        session.requests().sync(code -> {
            if (code == Code.OK) {
                answer.complete(null);
            } else {
                answer.completeExceptionally(Replies.failure(null, "ask", "/", code));
            }
        });
        return bounded(answer, null, "ping");
    }

    @Override
    public CompletionStage<LockInfo> inspect(String name) {
        return bounded(operator(name).inspect(name), name, "inspect");
    }

    @Override
    public CompletionStage<List<LockInfo>> list(String prefix) {
        return bounded(operator(null).list(prefix), null, "list");
    }

    @Override
    public CompletionStage<Boolean> forceRelease(String name) {
        return bounded(operator(name).forceRelease(name), name, "force release");
    }

    @Override
    public CompletionStage<EngineInfo> describe() {
        CompletableFuture<EngineInfo> answer = new CompletableFuture<>();
        Duration timeout = session.timeout();
        // Blocks on a socket of its own, and hardly ever: a thread for it costs nothing otherwise.
        Thread asking = new Thread(
                () -> answer.complete(Description.of(engine, timeout, context.requestTimeout())),
                "lockstep-zookeeper-describe-" + context.clientName());
        asking.setDaemon(true);
        asking.start();
        return bounded(answer, null, "describe");
    }

    private Operator operator(@Nullable String lockName) {
        return new Operator(session, names, lockName);
    }

    private <T extends @Nullable Object> CompletableFuture<T> bounded(
            CompletableFuture<T> answer, @Nullable String lockName, String what) {
        Scheduler.Timer limit = scheduler()
                .schedule(
                        context.requestTimeout().toNanos(),
                        () -> answer.completeExceptionally(new LockUnavailableException(
                                lockName,
                                what + ": ZooKeeper at " + engine + " has not answered within "
                                        + context.requestTimeout() + ".")));
        answer.whenComplete((done, error) -> limit.cancel());
        return answer;
    }

    @Override
    public void close() {
        Session last;
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            last = session;
        }
        last.close(!last.grants().isEmpty() || !pending.isEmpty(), context.requestTimeout());
        last.grants().forEach(grant -> grant.revoke(LossReason.CLIENT_CLOSED));
        pending.forEach(claim -> claim.fail(closedFailure(claim.request().name())));
    }

    private LockUnavailableException closedFailure(String name) {
        return new LockUnavailableException(
                name, "Lock '" + name + "': client " + context.clientName() + " was closed.");
    }
}
