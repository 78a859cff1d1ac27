package dev.lockstep.etcd;

import dev.lockstep.EngineInfo;
import dev.lockstep.LockInfo;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.LockstepException;
import dev.lockstep.spi.AdminBackend;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Traits;
import io.grpc.Status;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** One client's side of a cluster. Safe for use by many threads; nothing but {@link #open} and {@link #close} blocks. */
final class EtcdBackend implements LockBackend {
    /** The part of the request timeout that close reserves for the end of gRPC's threads. */
    private static final int SHUTDOWN_PART = 8;

    private final BackendContext context;
    private final Keys keys;
    private final Wire wire;
    private final Watches watches;
    private final Sessions sessions;
    private final HoldWatches holdWatches;
    private final Operators operators;
    private final EtcdAdmin admin;
    private final Set<EtcdClaim> claims = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;
    private Duration minTtl = Duration.ZERO; // written by open

    EtcdBackend(EtcdSettings settings, BackendContext context) {
        this.context = context;
        this.keys = new Keys(context.namespace());
        this.wire = new Wire(settings, context);
        this.watches = new Watches(wire, context);
        this.sessions = new Sessions(context, wire, watches, keys, this::advanceAll, this::checkBlockers);
        this.holdWatches = new HoldWatches(context);
        this.operators = new Operators(wire, keys);
        this.admin = new EtcdAdmin(this, operators);
    }

    /** Connects, logs in and opens a session. Blocks for the request timeout at most. */
    void open() {
        CompletableFuture<Session> opened = new CompletableFuture<>();
        AtomicReference<@Nullable Throwable> last = new AtomicReference<>();
        open(opened, last, 1);
        awaitAnswer(opened, context.requestTimeout());
        if (!opened.isDone() || opened.isCompletedExceptionally()) {
            close();
            Throwable failure = last.get();
            throw error(null, "Connecting", failure == null ? Status.DEADLINE_EXCEEDED.asException() : failure);
        }
        minTtl = sessions.minTtl(); // the core refuses a ttl below it
    }

    private void open(CompletableFuture<Session> opened, AtomicReference<@Nullable Throwable> last, int attempt) {
        sessions.open().whenComplete((session, failure) -> {
            if (failure == null) {
                opened.complete(session);
                return;
            }
            last.set(failure);
            if (!Failures.isUnanswered(failure)) {
                opened.completeExceptionally(failure);
            } else if (!closed) {
                later(context.retryBackoff().delay(attempt), () -> open(opened, last, attempt + 1));
            }
        });
    }

    /** Waits for an answer. An interrupt is kept for later: neither open nor close is a wait for a lock. */
    private void awaitAnswer(CompletableFuture<?> answer, Duration atMost) {
        boolean interrupted = false;
        long endNanos = context.scheduler().nanoTime() + atMost.toNanos();
        while (!answer.isDone()) {
            try {
                answer.get(endNanos - context.scheduler().nanoTime(), TimeUnit.NANOSECONDS);
            } catch (InterruptedException e) {
                interrupted = true;
            } catch (ExecutionException | TimeoutException e) {
                break; // the caller looks at it
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    // ---------------------------------------------------------------- what claims and grants share

    BackendContext context() {
        return context;
    }

    Keys keys() {
        return keys;
    }

    Wire wire() {
        return wire;
    }

    Watches watches() {
        return watches;
    }

    Sessions sessions() {
        return sessions;
    }

    HoldWatches holdWatches() {
        return holdWatches;
    }

    /** Takes a claim out of its queue, as {@link Departure} says, if it may be there. */
    CompletableFuture<Boolean> leave(Place place, String lockName, long createRevision, long pendingFence) {
        if (createRevision == 0 && pendingFence == 0) {
            place.free();
            return CompletableFuture.completedFuture(false);
        }
        Departure departure = new Departure(this, place, lockName, createRevision, pendingFence);
        Departure first = place.departure(departure);
        if (first == departure) {
            departure.start();
        }
        return first.left();
    }

    /** A claim was answered or withdrawn. */
    void forget(EtcdClaim claim) {
        claims.remove(claim);
    }

    /** Runs a task, which must not block, after a while. */
    void later(Duration delay, Runnable task) {
        context.scheduler().schedule(delay.toNanos(), task);
    }

    LockstepException error(@Nullable String lockName, String what, Throwable failure) {
        return Failures.error(lockName, what, wire.settings(), failure);
    }

    private void advanceAll() {
        claims.forEach(EtcdClaim::advance);
    }

    /** Looks whether what the claims of a session wait for is still there: etcd can drop an event. */
    private void checkBlockers(Session session) {
        BlockerCheck.run(
                wire,
                claims.stream()
                        .flatMap(claim -> claim.waiting(session).stream())
                        .iterator());
    }

    // ---------------------------------------------------------------- the SPI

    @Override
    public Traits traits() {
        return new Traits(true, true, true, true, minTtl);
    }

    @Override
    public Claim submit(ClaimRequest request) {
        EtcdClaim claim = new EtcdClaim(this, request);
        claims.add(claim);
        claim.advance();
        if (closed) {
            claim.fail(closedFailure(request.name()));
        }
        return claim;
    }

    @Override
    public long lastContactNanos() {
        return wire.lastContactNanos();
    }

    @Override
    public CompletionStage<Void> ping() {
        return answer(null, "A sign of life", operators.ping());
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
        return new EtcdAdmin(this, new Operators(wire, new Keys(namespace)));
    }

    @Override
    public CompletionStage<List<String>> namespaces() {
        return answer(null, "Listing the namespaces", Operators.namespaces(wire));
    }

    @Override
    public CompletionStage<EngineInfo> describe() {
        return answer(null, "Describing the cluster", Description.of(wire, keys, context.ttl()));
    }

    @Override
    public String address() {
        return wire.settings().toString();
    }

    <T> CompletionStage<T> answer(@Nullable String lockName, String what, CompletableFuture<T> answer) {
        return answer.exceptionallyCompose(failure -> CompletableFuture.failedFuture(error(lockName, what, failure)));
    }

    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        claims.forEach(claim -> claim.fail(closedFailure(null)));
        Duration shutdown = context.requestTimeout().dividedBy(SHUTDOWN_PART);
        // Without an answer, what is left goes with its lease.
        awaitAnswer(sessions.close(), context.requestTimeout().minus(shutdown));
        watches.close();
        wire.close(shutdown);
    }

    private LockUnavailableException closedFailure(@Nullable String name) {
        return new LockUnavailableException(name, "Client " + context.clientName() + " was closed.");
    }
}
