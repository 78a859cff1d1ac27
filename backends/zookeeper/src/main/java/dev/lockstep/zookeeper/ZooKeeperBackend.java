package dev.lockstep.zookeeper;

import dev.lockstep.EngineInfo;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockInfo;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.LockstepException;
import dev.lockstep.spi.AdminBackend;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Scheduler;
import dev.lockstep.spi.Traits;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One client's side of ZooKeeper. Safe for use by many threads. */
final class ZooKeeperBackend implements LockBackend {
    private static final Logger log = LoggerFactory.getLogger(ZooKeeperBackend.class);

    private final ZooKeeperEngine engine;
    private final BackendContext context;
    private final Names names;
    private final NodeAdmin admin;
    private final Sessions sessions;
    private Traits traits;

    ZooKeeperBackend(ZooKeeperEngine engine, BackendContext context) {
        this.engine = engine;
        this.context = context;
        this.names = new Names(context.namespace());
        this.admin = new NodeAdmin(this, names);
        this.traits = traits(Duration.ZERO);
        this.sessions = new Sessions(engine, context);
    }

    private Traits traits(Duration minTtl) {
        boolean queued = engine.isQueued();
        return new Traits(true, queued, queued, queued, minTtl);
    }

    /** Waits for the first connection, and checks what it leads to. Blocks for the request timeout at most. */
    void open() {
        long endNanos = scheduler().nanoTime() + context.requestTimeout().toNanos();
        try {
            Session first = session();
            await(first.ready(), endNanos, "No ZooKeeper server at " + engine + " has accepted a session");
            CompletableFuture<Code> root = new CompletableFuture<>();
            lookAtRoot(first, root);
            checkRoot(await(root, endNanos, "ZooKeeper at " + engine + " has not answered"));
        } catch (RuntimeException e) {
            close();
            throw e;
        }
        Duration granted = session().timeout();
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
            throw Replies.failure(null, "connect", "", engine.toString(), code);
        }
    }

    @Override
    public String address() {
        return engine.address();
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

    Sessions sessions() {
        return sessions;
    }

    /** The main session. */
    Session session() {
        return sessions.main();
    }

    boolean isClosed() {
        return sessions.isClosed();
    }

    /** How much the node of an attempt adds to the transaction that ends its session, at most. */
    int pathBytes(String lockPath, String key) {
        int path = engine.chrootBytes() + lockPath.length() + Integer.BYTES;
        return engine.isQueued() ? path + QueueNode.mostBytes(key) : path;
    }

    // ---------------------------------------------------------------- the SPI

    @Override
    public Traits traits() {
        return traits;
    }

    @Override
    public Claim submit(ClaimRequest request) {
        NodeClaim claim = new NodeClaim(this, request);
        sessions.add(claim);
        claim.ask();
        LockstepException failure = sessions.failure(claim.session(), request.name());
        if (failure != null) {
            claim.fail(null, failure);
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
        return sessions.lastContactNanos();
    }

    @Override
    public CompletionStage<Void> ping() {
        CompletableFuture<?>[] answers =
                sessions.connected().stream().map(ZooKeeperBackend::ping).toArray(CompletableFuture<?>[]::new);
        return bounded(CompletableFuture.allOf(answers), null, "ping");
    }

    private static CompletableFuture<Void> ping(Session session) {
        CompletableFuture<Void> answer = new CompletableFuture<>();
        session.requests().sync(code -> {
            if (code == Code.OK) {
                answer.complete(null);
            } else {
                answer.completeExceptionally(session.failure(null, "ask for", "/", code));
            }
        });
        return answer;
    }

    @Override
    public CompletionStage<LockInfo> inspect(String name) {
        return admin.inspect(name);
    }

    @Override
    public CompletionStage<List<LockInfo>> list(String prefix) {
        return admin.list(prefix);
    }

    @Override
    public CompletionStage<Boolean> forceRelease(String name) {
        return admin.forceRelease(name);
    }

    @Override
    public CompletionStage<Boolean> forceRelease(String name, long token) {
        return admin.forceRelease(name, token);
    }

    @Override
    public AdminBackend admin(String namespace) {
        return new NodeAdmin(this, new Names(namespace));
    }

    @Override
    public CompletionStage<List<String>> namespaces() {
        return bounded(new Operator(session(), names, null).namespaces(), null, "list namespaces");
    }

    @Override
    public CompletionStage<EngineInfo> describe() {
        CompletableFuture<EngineInfo> answer = new CompletableFuture<>();
        Duration timeout = session().timeout();
        // Blocks on a socket of its own, and hardly ever: a thread for it costs nothing otherwise.
        Thread asking = new Thread(
                () -> answer.complete(Description.of(engine, timeout, context.requestTimeout())),
                "lockstep-zookeeper-describe-" + context.clientName());
        asking.setDaemon(true);
        asking.start();
        return bounded(answer, null, "describe");
    }

    <T extends @Nullable Object> CompletableFuture<T> bounded(
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
        sessions.close();
    }
}
