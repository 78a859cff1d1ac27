package dev.lockstep.internal;

import dev.lockstep.EngineInfo;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockInfo;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.BackendFactory;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Traits;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An engine that was down when its client began in fallback: each ping tries to connect, and from the first that succeeds
 * on it is that engine. Safe for use by many threads.
 */
final class LateBackend implements LockBackend {
    private static final Logger log = LoggerFactory.getLogger(LateBackend.class);

    private final BackendFactory factory;
    private final BackendContext context;
    private final Traits assumed;
    private final long startNanos;
    private volatile @Nullable LockBackend engine; // written under this
    private @Nullable CompletableFuture<Void> connecting; // guarded by this
    private boolean closed; // guarded by this
    private String complaint = ""; // guarded by this

    /**
     * Makes one that is not connected yet.
     *
     * @param assumed what the client already counts on
     */
    LateBackend(BackendFactory factory, BackendContext context, Traits assumed) {
        this.factory = factory;
        this.context = context;
        this.assumed = assumed;
        this.startNanos = context.scheduler().nanoTime() - 1; // it has never answered
    }

    @Override
    public Traits traits() {
        return assumed;
    }

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
        Executor executor = context.executor();
        try {
            executor.execute(() -> connect(done));
        } catch (RuntimeException e) {
            ended(done, e);
        }
        return done;
    }

    private void connect(CompletableFuture<Void> done) {
        try {
            LockBackend made = factory.open(context);
            if (!covers(made.traits())) {
                made.close();
                throw new LockConfigurationException(
                        null,
                        "The engine can do less (" + made.traits() + ") than its fallback (" + assumed
                                + "), with which this client began. It stays in fallback; connect again.");
            }
            if (!take(made)) {
                made.close();
            }
            ended(done, null);
        } catch (LockConfigurationException e) {
            complain(String.valueOf(e.getMessage()));
            ended(done, e);
        } catch (RuntimeException | Error e) {
            ended(done, e);
        }
    }

    /** Says why, once. */
    private synchronized void complain(String why) {
        if (!why.equals(complaint)) {
            complaint = why;
            log.error("The engine is back, but cannot be used: {}", why);
        }
    }

    private synchronized boolean take(LockBackend made) {
        if (!closed) {
            engine = made;
        }
        return !closed;
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

    private boolean covers(Traits real) {
        return (real.tellsWanted() || !assumed.tellsWanted())
                && (real.shared() || !assumed.shared())
                && (real.fair() || !assumed.fair())
                && context.ttl().compareTo(real.minTtl()) >= 0;
    }

    @Override
    public String address() {
        LockBackend connected = engine;
        return connected == null ? "" : connected.address();
    }

    @Override
    public long lastContactNanos() {
        LockBackend connected = engine;
        return connected == null ? startNanos : connected.lastContactNanos();
    }

    @Override
    public Claim submit(ClaimRequest request) {
        LockBackend connected = engine;
        if (connected == null) {
            throw notConnected(request.name());
        }
        return connected.submit(request);
    }

    @Override
    public CompletionStage<LockInfo> inspect(String name) {
        return ask(name, connected -> connected.inspect(name));
    }

    @Override
    public CompletionStage<List<LockInfo>> list(String prefix) {
        return ask(null, connected -> connected.list(prefix));
    }

    @Override
    public CompletionStage<Boolean> forceRelease(String name) {
        return ask(name, connected -> connected.forceRelease(name));
    }

    @Override
    public CompletionStage<EngineInfo> describe() {
        return ask(null, LockBackend::describe);
    }

    private <T> CompletionStage<T> ask(@Nullable String name, Function<LockBackend, CompletionStage<T>> question) {
        LockBackend connected = engine;
        return connected == null ? CompletableFuture.failedFuture(notConnected(name)) : question.apply(connected);
    }

    private static LockUnavailableException notConnected(@Nullable String name) {
        return new LockUnavailableException(name, "The engine was down when this client began, and is not back yet.");
    }

    @Override
    public void close() {
        LockBackend connected;
        synchronized (this) {
            closed = true;
            connected = engine;
        }
        if (connected != null) {
            connected.close();
        }
    }
}
