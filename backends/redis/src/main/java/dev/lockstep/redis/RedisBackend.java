package dev.lockstep.redis;

import dev.lockstep.LockInfo;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.LossReason;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.Backoff;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Renewer;
import dev.lockstep.spi.Scheduler;
import dev.lockstep.spi.Traits;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Locks on one Redis: a server with or without replicas, or a cluster. Safe for use by many threads. */
final class RedisBackend implements LockBackend, PushChannel.Listener {
    private static final Backoff POLLS = new Backoff(Duration.ofMillis(5), Duration.ofMillis(40));

    private final BackendContext context;
    private final Link link;
    private final Dialect dialect;
    private final Duration waiterExpiry;
    private final boolean trustsPushedGrants;
    private final Lines lines;
    private final Renewer<RedisGrant> renewer;
    private final @Nullable PushChannel push;
    private final Map<String, RedisClaim> claims = new ConcurrentHashMap<>();
    private final Set<CompletableFuture<?>> unanswered = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    RedisBackend(BackendContext context, Link link, RedisOptions options) {
        this.context = context;
        this.link = link;
        // Not beyond the ttl, to which a grant is renewed when it is confirmed: validity never moves back.
        this.waiterExpiry =
                options.waiterExpiry().compareTo(context.ttl()) < 0 ? options.waiterExpiry() : context.ttl();
        Replication replication =
                new Replication(options.replicas(), context.requestTimeout().dividedBy(2));
        this.trustsPushedGrants = options.replicas() == 0;
        this.dialect = options.queue()
                ? new QueueDialect(link, context.namespace(), context.ttl(), waiterExpiry, replication)
                : new PlainDialect(link, context.namespace(), context.ttl(), replication);
        this.lines = new Lines(this);
        this.renewer = new Renewer<>(context, Batches.SIZE, LossReason.REVOKED, this::renew);
        this.push = options.queue() ? new PushChannel(link, context, this) : null;
    }

    /** Connects. */
    void open() throws Failure {
        StartUpCheck.run(link);
        if (push != null) {
            push.open();
        }
    }

    // ---------------------------------------------------------------- what claims and lines share

    BackendContext context() {
        return context;
    }

    Scheduler scheduler() {
        return context.scheduler();
    }

    Duration ttl() {
        return context.ttl();
    }

    Duration waiterExpiry() {
        return waiterExpiry;
    }

    Link link() {
        return link;
    }

    Dialect dialect() {
        return dialect;
    }

    Lines lines() {
        return lines;
    }

    Renewer<RedisGrant> renewer() {
        return renewer;
    }

    /** How long to wait before the next try, where nobody wakes a waiter. */
    Duration pollDelay(int polls) {
        return POLLS.delay(polls);
    }

    /** A claim has nothing at the server any more, or is about to give it back. */
    void forget(RedisClaim claim) {
        claims.remove(claim.request().claimId(), claim);
    }

    // ---------------------------------------------------------------- claims

    @Override
    public Traits traits() {
        return dialect.traits();
    }

    @Override
    public Claim submit(ClaimRequest request) {
        LockKeys keys = new LockKeys(context.namespace(), request.name());
        RedisClaim claim = new RedisClaim(
                this, request, keys, dialect.ownerOf(request), Dialect.bytes(Infos.encode(request.holder())));
        claims.put(request.claimId(), claim);
        if (closed) {
            claim.close(closedFailure());
        } else {
            claim.start();
        }
        return claim;
    }

    @Override
    public void told(String word, String id, String[] more) {
        RedisClaim claim = claims.get(RedisClaim.claimIdOf(id));
        if (claim == null) {
            return;
        }
        switch (word) {
            case "granted" -> {
                if (trustsPushedGrants && more.length == 2) {
                    claim.pushedGrant(id, Long.parseLong(more[0]), more[1].equals("1"));
                } else {
                    lines.look(claim);
                }
            }
            case "free" -> lines.look(claim);
            case "wanted" -> claim.pushedWanted();
            case "revoked" -> claim.pushedRevocation(id);
            default -> {}
        }
    }

    @Override
    public void subscribed() {
        lines.lookEverywhere();
    }

    private CompletionStage<List<RedisGrant>> renew(List<RedisGrant> batch) {
        CompletableFuture<List<RedisGrant>> lost = new CompletableFuture<>();
        long deadline = link.deadline();
        link.executeUpkeep(() -> {
            try {
                lost.complete(dialect.renew(batch, deadline));
            } catch (Failure e) {
                lost.completeExceptionally(e);
            }
        });
        return lost;
    }

    // ---------------------------------------------------------------- requests

    /** A request to the server, until a deadline. */
    @FunctionalInterface
    interface Request<T> {
        T send(long deadlineNanos) throws Failure;
    }

    /** Tries a request until it is answered, or until the ttl has passed and the server has forgotten by itself. */
    <T> CompletableFuture<T> retrying(String lockName, String what, Duration blockAtMost, Request<T> request) {
        Retry<T> retry = new Retry<>(lockName, what, request, scheduler().nanoTime() + ttl().toNanos());
        if (blockAtMost.isZero()) {
            retry.soon();
        } else {
            retry.now(scheduler().nanoTime() + blockAtMost.toNanos());
        }
        return retry.answer;
    }

    /** Tries a request for the request timeout. */
    <T> CompletableFuture<T> once(@Nullable String lockName, String what, Request<T> request) {
        Retry<T> retry = new Retry<>(lockName, what, request, link.deadline());
        retry.soon();
        return retry.answer;
    }

    private final class Retry<T> {
        private final @Nullable String lockName;
        private final String what;
        private final Request<T> request;
        private final long endNanos;
        private final CompletableFuture<T> answer = new CompletableFuture<>();
        private int failures;

        Retry(@Nullable String lockName, String what, Request<T> request, long endNanos) {
            this.lockName = lockName;
            this.what = what;
            this.request = request;
            this.endNanos = endNanos;
        }

        void soon() {
            if (unanswered.add(answer)) {
                answer.whenComplete((done, failure) -> unanswered.remove(answer));
            }
            if (closed) {
                answer.completeExceptionally(closedFailure());
            }
            long deadline = earlier(link.deadline(), endNanos);
            link.execute(() -> now(deadline));
        }

        void now(long deadlineNanos) {
            if (answer.isDone()) {
                return;
            }
            try {
                answer.complete(request.send(deadlineNanos));
            } catch (Failure e) {
                failures++;
                long delay = failures == 1
                        ? 0
                        : context.retryBackoff().delay(failures).toNanos();
                if (e.kind() == Failure.Kind.FINAL || scheduler().nanoTime() + delay - endNanos >= 0) {
                    answer.completeExceptionally(e.asLockstepException(lockName, what));
                } else if (delay == 0) {
                    soon();
                } else {
                    scheduler().schedule(delay, this::soon);
                }
            }
        }
    }

    private static long earlier(long first, long second) {
        return first - second < 0 ? first : second;
    }

    // ---------------------------------------------------------------- operators

    @Override
    public long lastContactNanos() {
        return link.lastContactNanos();
    }

    @Override
    public CompletionStage<Void> ping() {
        return once(null, "ping", deadline -> link.call(-1, deadline, connection -> connection.ping()))
                .thenAccept(pong -> {});
    }

    @Override
    public CompletionStage<LockInfo> inspect(String name) {
        return once(
                name,
                "inspect",
                deadline -> dialect.inspect(List.of(name), deadline).get(0));
    }

    @Override
    public CompletionStage<List<LockInfo>> list(String prefix) {
        return once(null, "list", deadline -> {
            List<String> names = KeyScan.names(link, context.namespace(), prefix, deadline);
            return dialect.inspect(names, deadline).stream()
                    .filter(info -> !info.holders().isEmpty() || !info.waiters().isEmpty())
                    .toList();
        });
    }

    @Override
    public CompletionStage<Boolean> forceRelease(String name) {
        LockKeys keys = new LockKeys(context.namespace(), name);
        return once(name, "forceRelease", deadline -> dialect.forceRelease(keys, deadline));
    }

    @Override
    public void close() {
        closed = true;
        renewer.close();
        if (push != null) {
            push.close();
        }
        link.close();
        claims.values().forEach(claim -> claim.close(closedFailure()));
        claims.clear();
        unanswered.forEach(answer -> answer.completeExceptionally(closedFailure()));
    }

    private LockUnavailableException closedFailure() {
        return new LockUnavailableException(null, "Client " + context.clientName() + " was closed.");
    }
}
