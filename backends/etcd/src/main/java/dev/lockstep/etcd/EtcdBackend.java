package dev.lockstep.etcd;

import com.google.protobuf.ByteString;
import dev.lockstep.EngineInfo;
import dev.lockstep.LockstepException;
import dev.lockstep.etcd.proto.Etcd.Event;
import dev.lockstep.spi.AbstractBackend;
import dev.lockstep.spi.AdminBackend;
import dev.lockstep.spi.Answers;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.Grant;
import dev.lockstep.spi.Retry;
import dev.lockstep.spi.Traits;
import io.grpc.Status;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * One client's side of a cluster. Safe for use by many threads. Nothing blocks except {@link #open}, {@link #close},
 * and a caller's thread during its own round trip.
 */
final class EtcdBackend extends AbstractBackend {
    /** The maximum number of concurrent requests of one call for several locks. */
    private static final int BATCH = 100;

    /** The part of the request timeout that close reserves for the end of gRPC's threads; what is left is theirs, too. */
    private static final int SHUTDOWN_PART = 8;

    private final Keys keys;
    private final Link link;
    private final Watches watches;
    private final Sessions sessions;
    private final HoldWatches holdWatches;
    private final Operators operators;
    private final Uncontended uncontended = new Uncontended();
    private final Set<EtcdClaim> claims = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;
    private Duration minTtl = Duration.ZERO; // written by open

    EtcdBackend(Settings settings, BackendContext context) {
        super(context);
        this.keys = new Keys(context.namespace());
        this.link = new Link(settings, context);
        this.watches = new Watches(link, context);
        this.sessions = new Sessions(context, link, watches, keys, this::advanceAll, this::checkBlockers);
        this.holdWatches = new HoldWatches(context);
        this.operators = new Operators(link, keys);
    }

    /** Connects, logs in and opens a session. Blocks for the request timeout at most. */
    void open() {
        CompletableFuture<Session> opened = new CompletableFuture<>();
        AtomicReference<@Nullable Throwable> last = new AtomicReference<>();
        open(opened, last, Retry.endless(context()));
        Answers.await(opened, context().requestTimeout());
        if (!opened.isDone() || opened.isCompletedExceptionally()) {
            close();
            Throwable failure = last.get();
            throw error(null, "Connecting", failure == null ? Status.DEADLINE_EXCEEDED.asException() : failure);
        }
        minTtl = sessions.minTtl(); // the core refuses a ttl below it
    }

    private void open(CompletableFuture<Session> opened, AtomicReference<@Nullable Throwable> last, Retry retry) {
        sessions.open().whenComplete((session, failure) -> {
            if (failure == null) {
                opened.complete(session);
                return;
            }
            last.set(failure);
            if (!Failure.isUnanswered(failure)) {
                opened.completeExceptionally(failure);
            } else if (!closed) {
                retry.later(() -> open(opened, last, retry));
            }
        });
    }

    // ---------------------------------------------------------------- what claims and grants share

    Keys keys() {
        return keys;
    }

    Link link() {
        return link;
    }

    Watches watches() {
        return watches;
    }

    Sessions sessions() {
        return sessions;
    }

    Uncontended uncontended() {
        return uncontended;
    }

    HoldWatches holdWatches() {
        return holdWatches;
    }

    /** Takes a claim out of its queue, as {@link Release} says, if it may be there. */
    CompletableFuture<Boolean> leave(ClaimKey key, String lockName, long createRevision, long pendingFence) {
        return leave(key, lockName, createRevision, pendingFence, List.of());
    }

    /** The same, with the values that are stored beside its key. */
    CompletableFuture<Boolean> leave(
            ClaimKey key, String lockName, long createRevision, long pendingFence, Collection<ByteString> beside) {
        if (createRevision == 0 && pendingFence == 0) {
            key.free();
            return CompletableFuture.completedFuture(false);
        }
        Release release = new Release(this, key, lockName, createRevision, pendingFence, beside);
        Release first = key.release(release);
        if (first == release) {
            release.start();
        }
        return first.left();
    }

    /** A claim was answered or withdrawn. */
    void forget(EtcdClaim claim) {
        claims.remove(claim);
    }

    LockstepException error(@Nullable String lockName, String what, Throwable failure) {
        return Failure.error(lockName, what, link.settings(), failure);
    }

    private void advanceAll() {
        claims.forEach(EtcdClaim::advance);
    }

    /** Checks whether the keys that a session's claims wait for are still there, since etcd can drop an event. */
    private void checkBlockers(Session session) {
        BlockerCheck.run(
                link,
                claims.stream()
                        .flatMap(claim -> claim.waiting(session).stream())
                        .iterator());
    }

    // ---------------------------------------------------------------- the SPI

    @Override
    public Traits traits() {
        return Traits.of(minTtl)
                .withPush(true)
                .withReportsWanted(true)
                .withShared(true)
                .withFair(true)
                .withLimits(true);
    }

    @Override
    public Claim submit(ClaimRequest request) {
        EtcdClaim claim = new EtcdClaim(this, request);
        claims.add(claim);
        claim.advance();
        if (closed) {
            claim.fail(context().closedFailure(request.name()));
        }
        claim.awaitFirstAnswer(request.blockAtMost());
        return claim;
    }

    @Override
    public Watch watch(String name, Runnable changed) {
        ByteString queue = Keys.bytes(keys.queue(name));
        Watches.Watch watch = watches.watch(queue, Keys.endOf(queue), 0, new Watches.Watcher() {
            @Override
            public void watching() {
                changed.run(); // earlier changes were not seen
            }

            @Override
            public void changed(Event event) {
                changed.run();
            }
        });
        return watch::cancel;
    }

    @Override
    public int batchSize() {
        return BATCH;
    }

    /**
     * Each lock has a request of its own. They are sent concurrently, and etcd writes many of them to its disk at once.
     */
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
        return link.lastContactNanos();
    }

    @Override
    public CompletionStage<Void> ping() {
        return answer(null, "A sign of life", operators.ping());
    }

    @Override
    public AdminBackend admin(String namespace) {
        return new EtcdAdmin(this, new Operators(link, new Keys(namespace)));
    }

    @Override
    public CompletionStage<List<String>> namespaces() {
        return answer(null, "Listing the namespaces", Operators.namespaces(link));
    }

    @Override
    public CompletionStage<EngineInfo> describe() {
        return answer(
                null,
                "Describing the cluster",
                Description.of(link, keys, context().ttl()));
    }

    @Override
    public String address() {
        return link.settings().toString();
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
        claims.forEach(claim -> claim.fail(context().closedFailure(null)));
        Duration atMost = context().requestTimeout();
        long endNanos = System.nanoTime() + atMost.toNanos();
        // Without an answer, the remaining keys disappear with their lease.
        Answers.await(sessions.close(), atMost.minus(atMost.dividedBy(SHUTDOWN_PART)));
        watches.close();
        link.close(Duration.ofNanos(Math.max(0, endNanos - System.nanoTime())));
    }
}
