package dev.lockstep.internal.client;

import dev.lockstep.ClientSnapshot;
import dev.lockstep.DistributedLock;
import dev.lockstep.DistributedReadWriteLock;
import dev.lockstep.DistributedSemaphore;
import dev.lockstep.EngineInfo;
import dev.lockstep.Leader;
import dev.lockstep.LeaderElection;
import dev.lockstep.LeaderTask;
import dev.lockstep.LockAdmin;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
import dev.lockstep.LockOptions;
import dev.lockstep.LockPage;
import dev.lockstep.LockTemplate;
import dev.lockstep.WaitGraph;
import dev.lockstep.internal.concurrent.CallbackExecutor;
import dev.lockstep.internal.concurrent.UserCode;
import dev.lockstep.internal.engine.Engines;
import dev.lockstep.internal.engine.Identity;
import dev.lockstep.internal.events.EventLog;
import dev.lockstep.internal.events.Events;
import dev.lockstep.internal.events.Observers;
import dev.lockstep.internal.fallback.FallbackBackend;
import dev.lockstep.internal.fallback.FallbackPlan;
import dev.lockstep.internal.lock.MultiLock;
import dev.lockstep.internal.lock.ReadWriteLockView;
import dev.lockstep.internal.lock.Template;
import dev.lockstep.internal.lock.TurnstileLock;
import dev.lockstep.internal.semaphore.Semaphores;
import dev.lockstep.internal.time.SystemScheduler;
import dev.lockstep.internal.turnstile.Turnstile;
import dev.lockstep.internal.turnstile.TurnstileContext;
import dev.lockstep.internal.turnstile.Turnstiles;
import dev.lockstep.internal.waits.Waits;
import dev.lockstep.internal.watch.DeadlineWatch;
import dev.lockstep.internal.watch.HoldWatch;
import dev.lockstep.internal.watch.OutageWatch;
import dev.lockstep.spi.Answers;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.BackendFactory;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Scheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The client: its turnstiles, its backend, and what they share. */
public final class Client implements LockClient {
    private static final Logger log = LoggerFactory.getLogger(Client.class);

    private final String name;
    private final LockBackend backend;
    private final Events events;
    private final TurnstileContext context;
    private final Turnstiles turnstiles;
    private final HoldWatch holds;
    private final DeadlineWatch deadlines;
    private final OutageWatch outages;
    private final Waits waits;
    private final EngineQuestions questions;
    private final NamespaceAdmin admin;
    private final Elections elections;
    private final Semaphores semaphores;
    private final Runnable onClosed;
    private final AtomicBoolean closing = new AtomicBoolean();
    private final CompletableFuture<Void> finished = new CompletableFuture<>();
    private volatile @Nullable ShutdownHook shutdownHook;

    /**
     * Connects a client.
     *
     * @param plan null to fail fast
     * @param onClosed ends what belongs to the client, after everything else
     */
    public Client(
            BackendFactory factory,
            Clients.Settings settings,
            @Nullable FallbackPlan plan,
            Scheduler scheduler,
            Executor executor,
            String clientName,
            String clientId,
            Runnable onClosed) {
        this.name = clientName;
        this.onClosed = onClosed;
        UserCode userCode = new UserCode(name, executor, scheduler);
        this.events = new Events(
                settings.listeners(),
                new Observers(settings.observers()),
                new EventLog(name, factory.address(), scheduler),
                userCode,
                scheduler::nanoTime);
        BackendContext forBackend = settings.forBackend(name, clientId, executor, scheduler)
                .withRequests(events.observers().requests(scheduler));
        events.observers().opening(name, factory.engine(), factory.address());
        ConnectedEngine engine = ConnectedEngine.open(factory, settings, plan, forBackend, events);
        this.backend = engine.backend();
        Clients.Care care = settings.care();
        this.context = new TurnstileContext(
                new TurnstileContext.Settings(
                        name, clientId, settings.requestTimeout(), engine.patience(), care.timedCallsFailFast()),
                backend,
                scheduler,
                userCode,
                events);
        this.turnstiles = context.turnstiles();
        this.questions = new EngineQuestions(context);
        this.semaphores = new Semaphores(new ClientSemaphoreHost(context, this::inspect, care.longHold()));
        this.holds = new HoldWatch(context, semaphores, care.releaseAbandoned(), care.longHold());
        this.deadlines = new DeadlineWatch(scheduler, turnstiles, now -> {
            holds.look(now);
            semaphores.look(now);
        });
        this.outages = new OutageWatch(
                scheduler, backend, engine.contact(), turnstiles, semaphores, events, context.requestTimeoutNanos());
        context.watchedBy(deadlines::watch, outages::watch, outages::owedSince);
        this.waits = new Waits(context, care.recordWaitsAfter(), care.deadlocks());
        this.admin = new NamespaceAdmin(questions, settings.namespace(), () -> backend);
        this.elections = new Elections(this, context, settings.ttl(), settings.backoff(), Elections::runInThread);
        engine.requireTtl(settings.ttl());
        holds.start();
    }

    static LockClient open(BackendFactory factory, Clients.Settings settings, @Nullable FallbackPlan plan) {
        Identity identity = Identity.ofProcess();
        String name = settings.clientName() != null ? settings.clientName() : identity.host() + ":" + identity.pid();
        SystemScheduler scheduler = new SystemScheduler(name);
        CallbackExecutor own = settings.executor() == null ? new CallbackExecutor(name, scheduler) : null;
        Executor executor = own != null ? own : Objects.requireNonNull(settings.executor());
        Runnable end = () -> {
            scheduler.close();
            if (own != null) {
                own.close();
            }
        };
        try {
            Client client = new Client(factory, settings, plan, scheduler, executor, name, Identity.newClientId(), end);
            client.events.observers().opened(client);
            if (settings.care().releaseOnShutdown()) {
                client.shutdownHook = ShutdownHook.install(client::closeBeforeTheEnd, name);
            }
            return client;
        } catch (RuntimeException | Error e) {
            end.run();
            throw e;
        }
    }

    // ---------------------------------------------------------------- the API

    @Override
    public DistributedLock lock(String lockName, LockOptions options) {
        return lock(lockName, LockMode.EXCLUSIVE, options);
    }

    @Override
    public DistributedReadWriteLock readWriteLock(String lockName, LockOptions options) {
        TurnstileLock write = lock(lockName, LockMode.EXCLUSIVE, options); // first, since it checks name and client
        return new ReadWriteLockView(lock(lockName, LockMode.SHARED, options), write);
    }

    private TurnstileLock lock(String lockName, LockMode mode, LockOptions options) {
        Names.requireLockName(lockName);
        context.ensureOpen();
        Engines.requireSupported(backend.traits(), lockName, mode, options);
        return new TurnstileLock(context, holds, lockName, mode, options);
    }

    @Override
    public DistributedLock multiLock(Collection<String> names, LockOptions options) {
        if (names.isEmpty()) {
            throw new IllegalArgumentException("A multi-lock needs at least one name.");
        }
        Set<String> seen = new HashSet<>();
        List<TurnstileLock> locks = new ArrayList<>(names.size());
        for (String lockName : names) {
            if (!seen.add(lockName)) {
                throw new IllegalArgumentException("A multi-lock cannot have a name twice: " + lockName);
            }
            locks.add(lock(lockName, LockMode.EXCLUSIVE, options));
        }
        locks.sort(Comparator.comparing(TurnstileLock::name));
        return new MultiLock(context, locks);
    }

    @Override
    public DistributedSemaphore semaphore(String semaphoreName, int permits, LockOptions options) {
        Names.requireLockName(semaphoreName);
        if (permits < 1) {
            throw new IllegalArgumentException(
                    "Semaphore '" + semaphoreName + "' needs at least one permit, not " + permits + ".");
        }
        context.ensureOpen();
        Engines.requireLimits(backend.traits(), semaphoreName);
        Engines.requireSupported(backend.traits(), semaphoreName, LockMode.SHARED, options);
        String refusal = hasFallback()
                ? "this client has a fallback, in which there could be more permits. Use a client without one for semaphores"
                : options.sticky().isPresent() || options.minHold().isPresent()
                        ? "permits can be neither sticky nor have a minimum time"
                        : "";
        if (!refusal.isEmpty()) {
            throw new LockConfigurationException(semaphoreName, "Semaphore '" + semaphoreName + "': " + refusal + ".");
        }
        return semaphores.semaphore(semaphoreName, permits, options);
    }

    @Override
    public LockTemplate template(LockOptions options) {
        Objects.requireNonNull(options, "options");
        context.ensureOpen();
        return new Template(this, context, options, Template.DEFAULT_WAIT, false);
    }

    @Override
    public LeaderElection election(String electionName, String payload, LeaderTask task) {
        return elections.open(electionName, payload, task);
    }

    @Override
    public Optional<Leader> leader(String electionName) {
        return elections.leader(electionName);
    }

    /** An exclusive lock whose asynchronous calls are shown to others under a given name instead of the thread's. */
    DistributedLock lockAs(String asker, String lockName, LockOptions options) {
        return new TurnstileLock(context, holds, lockName, LockMode.EXCLUSIVE, options, asker);
    }

    boolean hasFallback() {
        return backend instanceof FallbackBackend;
    }

    @Override
    public LockInfo inspect(String lockName) {
        return admin.inspect(lockName);
    }

    @Override
    public List<LockInfo> list(String prefix) {
        return admin.list(prefix);
    }

    @Override
    public LockPage list(String prefix, String cursor, int limit) {
        return admin.list(prefix, cursor, limit);
    }

    @Override
    public WaitGraph waitGraph(String prefix) {
        return admin.waitGraph(prefix);
    }

    @Override
    public boolean forceRelease(String lockName) {
        return admin.forceRelease(lockName);
    }

    @Override
    public boolean forceRelease(String lockName, long token) {
        return admin.forceRelease(lockName, token);
    }

    @Override
    public List<String> namespaces() {
        return questions.ask("Listing the namespaces", backend::namespaces).stream()
                .sorted()
                .toList();
    }

    @Override
    public LockAdmin admin(String namespace) {
        context.ensureOpen();
        Clients.requireNamespace(namespace);
        return namespace.equals(admin.namespace())
                ? admin
                : new NamespaceAdmin(questions, namespace, () -> backend.admin(namespace));
    }

    @Override
    public EngineInfo describe() {
        return questions.ask("Describing the engine", backend::describe);
    }

    @Override
    public Duration ping() {
        long start = context.monotonicNanos();
        questions.ask("Pinging the engine", () -> backend.ping().thenApply(done -> true));
        return Duration.ofNanos(context.monotonicNanos() - start);
    }

    @Override
    public boolean isClosed() {
        return context.isClosed();
    }

    @Override
    public boolean inFallback() {
        return backend instanceof FallbackBackend both && both.isFallback();
    }

    @Override
    public ClientSnapshot snapshot() {
        return Snapshots.of(turnstiles, semaphores, context.nanoTime());
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public void close() {
        if (!closing.compareAndSet(false, true)) {
            return;
        }
        context.close();
        ShutdownHook hook = shutdownHook;
        if (hook != null) {
            hook.remove();
        }
        holds.close();
        deadlines.close();
        outages.close();
        waits.close();
        List<CompletableFuture<Void>> draining = semaphores.close();
        for (Turnstile turnstile : turnstiles.all()) {
            draining.add(turnstile.close());
        }
        CompletableFuture<Void> drained = CompletableFuture.allOf(draining.toArray(CompletableFuture[]::new));
        Answers.await(drained, context.requestTimeout());
        try {
            backend.close(); // which may release the rest in one step
        } finally {
            if (!drained.isDone()) {
                log.warn(
                        "Client '{}': not everything was released within {} ms; the engine frees the rest after the ttl",
                        name,
                        context.requestTimeout().toMillis());
            }
            events.log().close();
            events.observers().closed(this);
            onClosed.run();
            finished.complete(null);
        }
    }

    /** Closes it, or waits for another thread that already does so: the JVM ends next. */
    void closeBeforeTheEnd() {
        close();
        Answers.await(finished, context.requestTimeout().multipliedBy(2));
    }

    @Override
    public String toString() {
        return "LockClient[" + name + (isClosed() ? ", closed]" : "]");
    }

    /** The context of its turnstiles and locks. */
    public TurnstileContext context() {
        return context;
    }
}
