package dev.lockstep.zookeeper;

import dev.lockstep.EngineInfo;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.LockstepException;
import dev.lockstep.spi.AbstractBackend;
import dev.lockstep.spi.AdminBackend;
import dev.lockstep.spi.Answers;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.Grant;
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
final class ZooKeeperBackend extends AbstractBackend {
    /** The maximum number of concurrent requests of one call for several locks. */
    private static final int BATCH = 100;

    private static final Logger log = LoggerFactory.getLogger(ZooKeeperBackend.class);

    private final ZooKeeperEngine engine;
    private final Keys keys;
    private final Sessions sessions;
    private final ListedNames listedNames = new ListedNames();
    private Traits traits;

    ZooKeeperBackend(ZooKeeperEngine engine, BackendContext context) {
        super(context);
        this.engine = engine;
        this.keys = new Keys(context.namespace());
        this.traits = traits(Duration.ZERO);
        this.sessions = new Sessions(engine, context);
    }

    private Traits traits(Duration minTtl) {
        boolean queued = engine.isQueued();
        return Traits.of(minTtl)
                .withPush(true)
                .withReportsWanted(queued)
                .withShared(queued)
                .withFair(queued)
                .withLimits(queued);
    }

    /** Waits for the first connection, and checks what it leads to. Blocks for the request timeout at most. */
    void open() {
        long endNanos = scheduler().nanoTime() + context().requestTimeout().toNanos();
        try {
            Session first = session();
            await(first.ready(), endNanos, "No ZooKeeper server at " + engine + " has accepted a session");
            String otherwise = "ZooKeeper at " + engine + " has not answered";
            Code read = await(first.format().checked(), endNanos, otherwise);
            if (read != Code.NOAUTH && !Failure.isEnd(read)) {
                checkRoot(read);
            }
            CompletableFuture<Code> root = new CompletableFuture<>();
            lookAtRoot(first, root);
            checkRoot(await(root, endNanos, otherwise));
            LockConfigurationException refused = first.format().failure(null);
            if (refused != null) {
                throw refused;
            }
        } catch (RuntimeException e) {
            close();
            throw e;
        }
        Duration granted = session().timeout();
        if (granted.compareTo(context().ttl()) > 0) {
            traits = traits(granted); // the core refuses the ttl
        } else if (granted.compareTo(context().ttl()) < 0) {
            log.info(
                    "Client '{}': the server allows sessions of {} at most, not of the ttl, {}",
                    context().clientName(),
                    granted,
                    context().ttl());
        }
    }

    private <T extends @Nullable Object> T await(CompletableFuture<T> reply, long endNanos, String otherwise) {
        Duration left = Duration.ofNanos(Math.max(0, endNanos - scheduler().nanoTime()));
        if (!Answers.await(reply, left)) {
            throw new LockUnavailableException(
                    null,
                    otherwise + " within " + context().requestTimeout()
                            + ". Check the addresses, that the servers are up and have a quorum, and TLS.");
        }
        try {
            return reply.join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof RuntimeException cause ? cause : e;
        }
    }

    /**
     * Over TLS, a server that refuses the client may be gone before its refusal is read: the next connection shows it.
     */
    private static void lookAtRoot(Session session, CompletableFuture<Code> answer) {
        session.link().exists("/", false, code -> {
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
            throw Failure.failure(null, "connect", "", engine.toString(), code);
        }
    }

    @Override
    public String address() {
        return engine.address();
    }

    // ---------------------------------------------------------------- what claims need

    Keys keys() {
        return keys;
    }

    boolean isQueued() {
        return engine.isQueued();
    }

    String clientId() {
        return context().clientId();
    }

    Scheduler scheduler() {
        return context().scheduler();
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

    /** How much a claim's node adds to the transaction that ends its session, at most. */
    int pathBytes(String lockPath, ClaimKind kind, String key) {
        int path = engine.chrootBytes() + lockPath.length() + Integer.BYTES;
        return engine.isQueued() ? path + QueueNode.mostBytes(kind, key) : path;
    }

    // ---------------------------------------------------------------- the SPI

    @Override
    public Traits traits() {
        return traits;
    }

    @Override
    public Claim submit(ClaimRequest request) {
        ZooKeeperClaim claim = new ZooKeeperClaim(this, request);
        LockConfigurationException refused = session().format().failure(request.name());
        if (refused != null) {
            claim.fail(null, refused);
            return claim;
        }
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
            // The core looks at the reply itself, or continues to wait for it.
        }
    }

    @Override
    public Watch watch(String name, Runnable changed) {
        HolderWatch watch = new HolderWatch(this, keys.lockPath(name), changed);
        sessions.add(watch);
        watch.set();
        return watch;
    }

    @Override
    public int batchSize() {
        return BATCH;
    }

    /** Each lock has a request of its own. They are on their way together, and ZooKeeper answers them in their order. */
    @Override
    public List<Claim> submitAll(List<? extends ClaimRequest> requests) {
        return submitTogether(requests);
    }

    @Override
    public List<CompletionStage<Boolean>> releaseAll(List<? extends Grant> grants, Duration blockAtMost) {
        return releaseTogether(grants);
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
        session.link().sync(code -> {
            if (code == Code.OK) {
                answer.complete(null);
            } else {
                answer.completeExceptionally(session.failure(null, "ask for", "/", code));
            }
        });
        return answer;
    }

    ListedNames listedNames() {
        return listedNames;
    }

    @Override
    public AdminBackend admin(String keyspace) {
        return new ZooKeeperAdmin(this, new Keys(keyspace));
    }

    @Override
    public CompletionStage<List<String>> namespaces() {
        return bounded(new Operators(session(), keys, null).namespaces(), null, "list namespaces");
    }

    @Override
    public CompletionStage<EngineInfo> describe() {
        CompletableFuture<EngineInfo> answer = new CompletableFuture<>();
        Duration timeout = session().timeout();
        // Blocks on a socket of its own, and hardly ever: a thread for it costs nothing otherwise.
        Thread asking = new Thread(
                () -> answer.complete(Description.of(engine, timeout, context().requestTimeout())),
                "lockstep-zookeeper-describe-" + context().clientName());
        asking.setDaemon(true);
        asking.start();
        return bounded(answer, null, "describe");
    }

    <T extends @Nullable Object> CompletableFuture<T> bounded(
            CompletableFuture<T> answer, @Nullable String lockName, String what) {
        return Answers.within(
                context(),
                answer,
                () -> new LockUnavailableException(
                        lockName,
                        what + ": ZooKeeper at " + engine + " has not answered within "
                                + context().requestTimeout().toMillis() + " ms."));
    }

    @Override
    public void close() {
        sessions.close();
    }
}
