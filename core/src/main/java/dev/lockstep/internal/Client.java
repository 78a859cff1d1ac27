package dev.lockstep.internal;

import dev.lockstep.DistributedLock;
import dev.lockstep.DistributedReadWriteLock;
import dev.lockstep.EngineInfo;
import dev.lockstep.HolderInfo;
import dev.lockstep.LockAdmin;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
import dev.lockstep.LockOptions;
import dev.lockstep.LockTemplate;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.LockstepException;
import dev.lockstep.LossReason;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.BackendFactory;
import dev.lockstep.spi.Backoff;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Scheduler;
import dev.lockstep.spi.Traits;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The client: its turnstiles, its backend, and what they share. */
final class Client implements LockClient {
    private static final Logger log = LoggerFactory.getLogger(Client.class);

    private final String name;
    private final String id;
    private final Duration requestTimeout;
    private final long requestTimeoutNanos;
    private final long patienceNanos;
    private final Scheduler scheduler;
    private final Executor executor;
    private final Runnable onClosed;
    private final LockBackend backend;
    private final NamespaceAdmin admin;
    private final Events events;
    private final Turnstiles turnstiles = new Turnstiles(this);
    private final HoldWatch holds;
    private final DeadlineWatch deadlines;
    private final boolean timedCallsFailFast;
    private final OutageWatch outages;
    private final AtomicBoolean closing = new AtomicBoolean();
    private final CompletableFuture<Void> finished = new CompletableFuture<>();
    private volatile @Nullable ShutdownHook shutdownHook;
    private volatile boolean closed;

    /**
     * Connects a client.
     *
     * @param plan null to fail fast
     * @param onClosed ends what belongs to the client, after everything else
     */
    Client(
            BackendFactory factory,
            Clients.Settings settings,
            Clients.@Nullable FallbackPlan plan,
            Scheduler scheduler,
            Executor executor,
            String clientName,
            String clientId,
            Runnable onClosed) {
        this.name = clientName;
        this.id = clientId;
        this.requestTimeout = settings.requestTimeout();
        this.requestTimeoutNanos = requestTimeout.toNanos();
        this.scheduler = scheduler;
        this.executor = executor;
        this.onClosed = onClosed;
        this.events = new Events(settings.listeners(), this::execute, scheduler::nanoTime);
        this.holds = new HoldWatch(this, turnstiles, settings.care());
        this.deadlines = new DeadlineWatch(scheduler, turnstiles, holds::look);
        this.timedCallsFailFast = settings.care().timedCallsFailFast();
        BackendContext context = new BackendContext(
                settings.namespace(),
                name,
                id,
                settings.ttl(),
                requestTimeout,
                new Backoff(settings.minBackoff(), settings.maxBackoff()),
                executor,
                scheduler);
        LongSupplier engineContact;
        if (plan == null) {
            this.backend = settings.lazyConnect() ? LateBackend.lazy(factory, context, null) : factory.open(context);
            this.patienceNanos = requestTimeoutNanos;
            engineContact = backend::lastContactNanos;
        } else {
            FallbackBackend both = FallbackBackend.open(factory, plan, context, events, settings.lazyConnect());
            this.backend = both;
            // Who has no deadline waits until the fallback begins, and then for its engine as otherwise for the first.
            this.patienceNanos = requestTimeoutNanos + plan.after().toNanos();
            engineContact = both::primaryContactNanos;
        }
        this.admin = new NamespaceAdmin(this, settings.namespace(), () -> backend);
        this.outages = new OutageWatch(scheduler, backend, engineContact, turnstiles, events, requestTimeoutNanos);
        if (settings.ttl().compareTo(backend.traits().minTtl()) < 0) {
            LockConfigurationException refusal = ttlTooShort(settings.ttl(), backend.traits());
            backend.close();
            throw refusal;
        }
    }

    static LockConfigurationException ttlTooShort(Duration ttl, Traits traits) {
        return new LockConfigurationException(
                null, "The ttl of " + ttl + " is below the engine's minimum of " + traits.minTtl() + ".");
    }

    static LockClient open(BackendFactory factory, Clients.Settings settings, Clients.@Nullable FallbackPlan plan) {
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
            client.holds.start();
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
        ensureOpen();
        requireSupported(traits(), lockName, mode, options);
        return new TurnstileLock(this, lockName, mode, options);
    }

    /** Refuses what an engine cannot do. */
    static void requireSupported(Traits traits, String lockName, LockMode mode, LockOptions options) {
        if (mode == LockMode.SHARED && !traits.shared()) {
            throw new LockConfigurationException(
                    lockName, "Lock '" + lockName + "': this engine has no shared locks. Use lock(name) instead.");
        }
        if (options.isFair() && !traits.fair()) {
            throw new LockConfigurationException(
                    lockName, "Lock '" + lockName + "': this engine keeps no order, so it has no fair locks.");
        }
        if (options.sticky().isPresent() && !traits.tellsWanted()) {
            throw new LockConfigurationException(
                    lockName,
                    "Lock '" + lockName
                            + "': this engine cannot tell that another client wants a lock, so it has no sticky"
                            + " locks: a kept lock would never be called back.");
        }
    }

    @Override
    public DistributedLock multiLock(Collection<String> names, LockOptions options) {
        if (names.isEmpty()) {
            throw new IllegalArgumentException("A multi-lock needs at least one name.");
        }
        if (new HashSet<>(names).size() < names.size()) {
            throw new IllegalArgumentException("A multi-lock cannot have a name twice: " + names);
        }
        List<TurnstileLock> locks = new ArrayList<>();
        for (String lockName : names) {
            locks.add(lock(lockName, LockMode.EXCLUSIVE, options));
        }
        locks.sort(Comparator.comparing(TurnstileLock::name));
        return new MultiLock(this, locks);
    }

    @Override
    public LockTemplate template(LockOptions options) {
        Objects.requireNonNull(options, "options");
        ensureOpen();
        return new Template(this, options, Template.DEFAULT_WAIT, false);
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
    public boolean forceRelease(String lockName) {
        return admin.forceRelease(lockName);
    }

    @Override
    public boolean forceRelease(String lockName, long token) {
        return admin.forceRelease(lockName, token);
    }

    @Override
    public List<String> namespaces() {
        return ask(null, "Listing the namespaces", backend::namespaces).stream()
                .sorted()
                .toList();
    }

    @Override
    public LockAdmin admin(String namespace) {
        ensureOpen();
        Clients.requireNamespace(namespace);
        return namespace.equals(admin.namespace())
                ? admin
                : new NamespaceAdmin(this, namespace, () -> backend.admin(namespace));
    }

    @Override
    public EngineInfo describe() {
        return ask(null, "Describing the engine", backend::describe);
    }

    /** Asks the engine something and waits for the answer, for the request timeout. */
    <T> T ask(@Nullable String lockName, String what, Supplier<CompletionStage<T>> question) {
        ensureOpen();
        CompletableFuture<T> answer;
        try {
            answer = question.get().toCompletableFuture();
        } catch (RuntimeException e) {
            answer = CompletableFuture.failedFuture(e);
        }
        if (!Futures.await(answer, requestTimeoutNanos)) {
            throw new LockUnavailableException(
                    lockName, what + ": " + engine() + " did not answer within " + requestTimeout + ".");
        }
        try {
            return answer.join();
        } catch (CompletionException e) {
            throw lockName != null ? failure(lockName, e) : failureOf(what, e.getCause());
        }
    }

    /** What a caller is told of a failure that is about no lock. */
    private static RuntimeException failureOf(String what, @Nullable Throwable cause) {
        String message = what + " failed: " + (cause == null ? "for an unknown reason" : cause.getMessage());
        return cause instanceof LockConfigurationException
                ? new LockConfigurationException(null, message, cause)
                : new LockUnavailableException(null, message, cause);
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
        closed = true;
        ShutdownHook hook = shutdownHook;
        if (hook != null) {
            hook.remove();
        }
        holds.close();
        deadlines.close();
        outages.close();
        List<CompletableFuture<Void>> draining = new ArrayList<>();
        for (Turnstile turnstile : turnstiles.all()) {
            draining.add(turnstile.close());
        }
        CompletableFuture<Void> drained = CompletableFuture.allOf(draining.toArray(CompletableFuture[]::new));
        Futures.await(drained, requestTimeoutNanos);
        try {
            backend.close(); // which may release the rest in one step
        } finally {
            if (!drained.isDone()) {
                log.warn(
                        "Client '{}': not everything was released within {}; the engine frees the rest after the ttl",
                        name,
                        requestTimeout);
            }
            onClosed.run();
            finished.complete(null);
        }
    }

    /** Closes it, or waits for somebody who does so already: what comes next is the end of the JVM. */
    void closeBeforeTheEnd() {
        close();
        Futures.await(finished, 2 * requestTimeoutNanos);
    }

    @Override
    public String toString() {
        return "LockClient[" + name + (closed ? ", closed]" : "]");
    }

    // ---------------------------------------------------------------- what turnstiles and locks share

    LockBackend backend() {
        return backend;
    }

    Traits traits() {
        return backend.traits();
    }

    Events events() {
        return events;
    }

    String id() {
        return id;
    }

    Duration requestTimeout() {
        return requestTimeout;
    }

    long requestTimeoutNanos() {
        return requestTimeoutNanos;
    }

    /** How long a call without a deadline of its own bears an engine that does not answer. */
    long patienceNanos() {
        return patienceNanos;
    }

    /** The clock of leases. */
    long nanoTime() {
        return scheduler.nanoTime();
    }

    /** The clock of leases, for a request that is about to be sent. */
    long requestNanos() {
        return scheduler.requestNanos();
    }

    /** The clock of waits. */
    long monotonicNanos() {
        return scheduler.monotonicNanos();
    }

    Scheduler scheduler() {
        return scheduler;
    }

    /** How many names cost memory now. */
    int turnstileCount() {
        return turnstiles.all().size();
    }

    Turnstile turnstile(String lockName) {
        return turnstiles.of(lockName);
    }

    void watchDeadline(long deadlineNanos) {
        deadlines.watch(deadlineNanos);
    }

    HoldWatch holds() {
        return holds;
    }

    /** Whether an outage ends calls that have a deadline of their own, too. */
    boolean timedCallsFailFast() {
        return timedCallsFailFast;
    }

    void watchOutage(long sinceNanos) {
        outages.watch(sinceNanos);
    }

    void ensureOpen() {
        if (closed) {
            throw new IllegalStateException("Client '" + name + "' is closed.");
        }
    }

    /** Who asks, for people: "since" is as exact as the clocks, and differs a little from one call to the next. */
    HolderInfo holderInfo(String threadName, long sentNanos, boolean sticky) {
        Identity identity = Identity.ofProcess();
        Instant since = Instant.now().minusNanos(scheduler.nanoTime() - sentNanos);
        return new HolderInfo(name, identity.host(), identity.pid(), threadName, since, sticky);
    }

    /** Runs users' code where it may take its time. */
    void execute(Runnable task) {
        try {
            executor.execute(task);
        } catch (RejectedExecutionException e) {
            log.warn(
                    "Client '{}': its executor refuses tasks; running one in thread {}",
                    name,
                    Thread.currentThread().getName());
            task.run();
        }
    }

    void complete(Waiter waiter, Object result) {
        var callback = Objects.requireNonNull(waiter.callback);
        execute(() -> callback.accept(
                result instanceof Hold hold ? hold : null,
                result instanceof Waiter.Failure failure ? failure.toException() : null));
    }

    void runLossAction(String lockName, Consumer<LossReason> action, LossReason reason) {
        execute(() -> {
            try {
                action.accept(reason);
            } catch (RuntimeException | Error e) {
                log.warn("Lock '{}': an onLost action failed", lockName, e);
            }
        });
    }

    /** The engine, as messages name it. */
    String engine() {
        return engine(backend);
    }

    static String engine(LockBackend backend) {
        String address = backend.address();
        return address.isEmpty() ? "the engine" : "the engine at " + address;
    }

    LockUnavailableException unavailable(String lockName, long silenceNanos) {
        return new LockUnavailableException(
                lockName,
                "Lock '" + lockName + "': no answer from " + engine() + " for " + silenceNanos / 1_000_000
                        + " ms. It is not held by this call; check that the engine is up and reachable.");
    }

    LockUnavailableException unconfirmed(String lockName) {
        return new LockUnavailableException(
                lockName,
                "Lock '" + lockName + "': " + engine()
                        + " has not confirmed yet that an earlier call of this client gave it"
                        + " back, so it is not known who holds it. It is not held by this call. The earlier one goes on in"
                        + " the background, until the ttl has passed; check that the engine is up and able to write.");
    }

    LockUnavailableException closedWhileWaiting(String lockName) {
        return new LockUnavailableException(
                lockName, "Lock '" + lockName + "': client '" + name + "' was closed while the call waited.");
    }

    /** The exception for one caller, in its own thread; the backend's failure, which may be many callers', is the cause. */
    RuntimeException failure(String lockName, @Nullable Throwable error) {
        Throwable cause = error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
        if (cause instanceof LockConfigurationException known) {
            return new LockConfigurationException(known.lockName(), String.valueOf(known.getMessage()), known);
        }
        if (cause instanceof LockUnavailableException known) {
            return new LockUnavailableException(known.lockName(), String.valueOf(known.getMessage()), known);
        }
        if (cause instanceof LockstepException known) {
            return new LockstepException(known.lockName(), String.valueOf(known.getMessage()), known);
        }
        return new LockUnavailableException(
                lockName,
                "Lock '" + lockName + "': the request failed and its outcome is unknown; what it may have taken is"
                        + " being given back.",
                cause);
    }
}
