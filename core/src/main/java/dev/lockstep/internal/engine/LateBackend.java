package dev.lockstep.internal.engine;

import dev.lockstep.EngineInfo;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockInfo;
import dev.lockstep.LockPage;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.spi.AdminBackend;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.BackendFactory;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.Grant;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Traits;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An engine to which its client is not connected yet: because it was down when the client began in fallback, or because
 * the client connects lazily. Each ping tries to connect; once one has succeeded, this object passes everything on to
 * that engine. Requests that come before wait for the connection. Safe for use by many threads.
 */
public final class LateBackend implements LockBackend {
    private static final Logger log = LoggerFactory.getLogger(LateBackend.class);

    /** The requests that a client may make before it knows its engine; the engine decides later. */
    private static final Traits ANYTHING = Traits.of(Duration.ofNanos(1))
            .withPush(true)
            .withReportsWanted(true)
            .withShared(true)
            .withFair(true)
            .withLimits(true);

    private static final Traits NOTHING = Traits.of(Duration.ofNanos(1));

    private final BackendFactory factory;
    private final BackendContext context;
    private final Traits assumed;
    private final Traits required;
    private final Executor connector;
    private final long startNanos;
    private final CompletableFuture<LockBackend> arrival = new CompletableFuture<>();
    private volatile @Nullable LockBackend engine; // written under this

    // All guarded by this.
    private final Set<LateClaim> waiting = new LinkedHashSet<>(); // in order of arrival
    private @Nullable CompletableFuture<Void> connecting;
    private @Nullable LockConfigurationException refusal;
    private boolean warned;
    private boolean closed;

    private LateBackend(
            BackendFactory factory, BackendContext context, Traits assumed, Traits required, Executor connector) {
        this.factory = factory;
        this.context = context;
        this.assumed = assumed;
        this.required = required;
        this.connector = connector;
        this.startNanos = context.scheduler().nanoTime() - 1; // it has never answered
    }

    /**
     * The engine of a client that has a fallback, whose watch asks whether it is back.
     *
     * @param assumed what the client already counts on
     */
    public static LateBackend besideFallback(BackendFactory factory, BackendContext context, Traits assumed) {
        return new LateBackend(factory, context, assumed, assumed, context.executor());
    }

    /** An engine that is connected to in the background, from now on. */
    public static LateBackend lazy(BackendFactory factory, BackendContext context) {
        return lazy(factory, context, ANYTHING, NOTHING);
    }

    /** Likewise, of a client that begins with what its fallback can do. */
    public static LateBackend lazyBesideFallback(BackendFactory factory, BackendContext context, Traits ofFallback) {
        return lazy(factory, context, ofFallback, ofFallback);
    }

    private static LateBackend lazy(BackendFactory factory, BackendContext context, Traits assumed, Traits required) {
        Executor connector = task -> {
            Thread thread = new Thread(task, "lockstep-connect-" + context.clientName());
            thread.setDaemon(true);
            thread.start();
        };
        LateBackend late = new LateBackend(factory, context, assumed, required, connector);
        late.keepConnecting(1);
        return late;
    }

    private void keepConnecting(int attempt) {
        ping().whenComplete((done, error) -> {
            if (error != null && !isClosed()) {
                long delay = context.retryBackoff().delay(attempt).toNanos();
                context.scheduler().schedule(delay, () -> keepConnecting(attempt + 1));
            }
        });
    }

    @Override
    public Traits traits() {
        LockBackend connected = engine;
        return connected == null ? assumed : connected.traits();
    }

    // ---------------------------------------------------------------- connecting

    @Override
    public CompletionStage<Void> ping() {
        LockBackend connected = engine;
        if (connected != null) {
            return connected.ping();
        }
        CompletableFuture<Void> done = new CompletableFuture<>();
        synchronized (this) {
            if (connecting != null) {
                return connecting;
            }
            connecting = done;
        }
        try {
            connector.execute(() -> connect(done));
        } catch (RuntimeException e) {
            ended(done, e);
        }
        return done;
    }

    private void connect(CompletableFuture<Void> done) {
        try {
            LockBackend made = factory.open(context);
            LockConfigurationException unusable = unusable(made.traits());
            if (unusable != null) {
                made.close();
                throw unusable;
            }
            arrived(made);
            ended(done, null);
        } catch (LockConfigurationException e) {
            refuse(e);
            ended(done, e);
        } catch (RuntimeException | Error e) {
            failed(e);
            ended(done, e);
        }
    }

    private @Nullable LockConfigurationException unusable(Traits real) {
        if (context.ttl().compareTo(real.minTtl()) < 0) {
            return Engines.ttlTooShort(context.ttl(), real);
        }
        boolean covers = (real.reportsWanted() || !required.reportsWanted())
                && (real.shared() || !required.shared())
                && (real.fair() || !required.fair());
        return covers
                ? null
                : new LockConfigurationException(
                        null,
                        "The engine can do less (" + real + ") than its fallback (" + required
                                + "), with which this client began. It stays in fallback; connect again.");
    }

    private void arrived(LockBackend made) {
        List<LateClaim> claims;
        synchronized (this) {
            if (closed) {
                claims = List.of();
            } else {
                engine = made;
                refusal = null;
                claims = List.copyOf(waiting);
                waiting.clear();
            }
        }
        if (engine == null) {
            made.close();
            return;
        }
        log.info("Client '{}' is connected to {}", context.clientName(), Engines.describe(this));
        arrival.complete(made);
        claims.forEach(claim -> submit(claim, made));
    }

    /** The engine answers, but the settings are wrong. Waiting does not help, so every call that waits fails. */
    private void refuse(LockConfigurationException why) {
        List<LateClaim> claims;
        boolean news;
        synchronized (this) {
            news = refusal == null || !Objects.equals(refusal.getMessage(), why.getMessage());
            refusal = why;
            claims = List.copyOf(waiting);
            waiting.clear();
        }
        if (news) {
            log.error("Client '{}' cannot use {}: {}", context.clientName(), Engines.describe(this), why.getMessage());
        }
        claims.forEach(claim -> claim.fail(why));
    }

    private void failed(Throwable error) {
        boolean news;
        synchronized (this) {
            refusal = null;
            news = !warned && !closed;
            warned = true;
        }
        if (news) {
            log.warn(
                    "Client '{}' is not connected to {} yet, and keeps trying: {}",
                    context.clientName(),
                    Engines.describe(this),
                    error.getMessage());
        }
    }

    private void ended(CompletableFuture<Void> done, @Nullable Throwable error) {
        synchronized (this) {
            connecting = null;
        }
        if (error == null) {
            done.complete(null);
        } else {
            done.completeExceptionally(error);
        }
    }

    private synchronized boolean isClosed() {
        return closed;
    }

    // ---------------------------------------------------------------- asking

    @Override
    public String address() {
        LockBackend connected = engine;
        return connected == null ? factory.address() : connected.address();
    }

    @Override
    public long lastContactNanos() {
        LockBackend connected = engine;
        return connected == null ? startNanos : connected.lastContactNanos();
    }

    @Override
    public Claim submit(ClaimRequest request) {
        LockBackend connected = engine;
        if (connected != null) {
            requireSupported(request, connected);
            return connected.submit(request);
        }
        LateClaim claim = new LateClaim(request, this::forget);
        synchronized (this) {
            connected = engine;
            if (connected == null && refusal == null) {
                waiting.add(claim);
            } else if (connected == null && refusal != null) {
                claim.fail(refusal);
            }
        }
        if (connected != null) {
            submit(claim, connected);
        }
        return claim;
    }

    /** Claims that wait for the engine are made one by one. */
    @Override
    public int batchSize() {
        LockBackend connected = engine;
        return connected == null ? 1 : connected.batchSize();
    }

    @Override
    public List<Claim> submitAll(List<? extends ClaimRequest> requests) {
        LockBackend connected = engine;
        if (connected == null) {
            return LockBackend.super.submitAll(requests);
        }
        requests.forEach(request -> requireSupported(request, connected));
        return connected.submitAll(requests);
    }

    @Override
    public List<CompletionStage<Boolean>> releaseAll(List<? extends Grant> grants, Duration blockAtMost) {
        LockBackend connected = engine;
        return connected == null
                ? LockBackend.super.releaseAll(grants, blockAtMost)
                : connected.releaseAll(grants, blockAtMost);
    }

    private void submit(LateClaim claim, LockBackend connected) {
        try {
            requireSupported(claim.request(), connected);
        } catch (LockConfigurationException e) {
            claim.fail(e);
            return;
        }
        claim.submitTo(connected, context.scheduler().nanoTime());
    }

    /** The lock may have been made when nobody knew what the engine can do. */
    private static void requireSupported(ClaimRequest request, LockBackend connected) {
        if (request.limit().isPresent()) {
            Engines.requireLimits(connected.traits(), request.name());
        }
        if (request instanceof LockRequest known) {
            Engines.requireSupported(connected.traits(), known.name(), known.mode(), known.options());
        }
    }

    @Override
    public Watch watch(String name, Runnable changed) {
        return LateWatch.of(arrival, name, changed);
    }

    private synchronized void forget(LateClaim claim) {
        waiting.remove(claim);
    }

    @Override
    public CompletionStage<LockInfo> inspect(String name) {
        return ask(connected -> connected.inspect(name));
    }

    @Override
    public CompletionStage<List<LockInfo>> list(String prefix) {
        return ask(connected -> connected.list(prefix));
    }

    @Override
    public CompletionStage<LockPage> list(String prefix, String cursor, int limit) {
        return ask(connected -> connected.list(prefix, cursor, limit));
    }

    @Override
    public CompletionStage<Boolean> forceRelease(String name) {
        return ask(connected -> connected.forceRelease(name));
    }

    @Override
    public CompletionStage<Boolean> forceRelease(String name, long token) {
        return ask(connected -> connected.forceRelease(name, token));
    }

    @Override
    public CompletionStage<List<String>> namespaces() {
        return ask(LockBackend::namespaces);
    }

    @Override
    public AdminBackend admin(String namespace) {
        return new LateAdmin(this, namespace);
    }

    @Override
    public CompletionStage<EngineInfo> describe() {
        return ask(LockBackend::describe);
    }

    /** Asks once the engine is connected. */
    <T> CompletionStage<T> ask(Function<LockBackend, CompletionStage<T>> question) {
        synchronized (this) {
            if (engine == null && refusal != null) {
                return CompletableFuture.failedFuture(refusal);
            }
        }
        return arrival.thenCompose(question);
    }

    @Override
    public void close() {
        LockBackend connected;
        synchronized (this) {
            closed = true;
            connected = engine;
        }
        arrival.completeExceptionally(
                new LockUnavailableException(null, "The client was closed before it was connected."));
        if (connected != null) {
            connected.close();
        }
    }
}
