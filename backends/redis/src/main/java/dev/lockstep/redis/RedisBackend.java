package dev.lockstep.redis;

import dev.lockstep.EngineInfo;
import dev.lockstep.LossReason;
import dev.lockstep.redis.internal.Batches;
import dev.lockstep.redis.internal.ClaimId;
import dev.lockstep.redis.internal.Failure;
import dev.lockstep.redis.internal.KeyScan;
import dev.lockstep.redis.internal.Keys;
import dev.lockstep.redis.internal.Link;
import dev.lockstep.redis.internal.PushChannel;
import dev.lockstep.redis.internal.Renewal;
import dev.lockstep.redis.internal.Requests;
import dev.lockstep.redis.internal.Settings;
import dev.lockstep.redis.internal.StartUpCheck;
import dev.lockstep.spi.AbstractBackend;
import dev.lockstep.spi.AdminBackend;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.Backoff;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.Grant;
import dev.lockstep.spi.Renewer;
import dev.lockstep.spi.Scheduler;
import dev.lockstep.spi.Traits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;

/** Locks on one Redis: a server with or without replicas, or a cluster. Safe for use by many threads. */
final class RedisBackend extends AbstractBackend implements PushChannel.Listener {
    private static final Backoff POLLS = new Backoff(Duration.ofMillis(5), Duration.ofMillis(40));

    private final Link link;
    private final Settings settings;
    private final Dialect dialect;
    private final Duration waiterExpiry;
    private final boolean trustsPushedGrants;
    private final Waiters waiters;
    private final Renewer<RedisGrant> renewer;
    private final Map<String, RedisClaim> claims = new ConcurrentHashMap<>();
    private final Requests requests;
    private volatile boolean closed;

    RedisBackend(BackendContext context, Link link, Settings settings) {
        super(context);
        this.link = link;
        this.settings = settings;
        // Not beyond the ttl, to which a grant is renewed when it is confirmed: validity never moves back.
        this.waiterExpiry =
                settings.waiterExpiry().compareTo(context.ttl()) < 0 ? settings.waiterExpiry() : context.ttl();
        Replication replication =
                new Replication(settings.replicas(), context.requestTimeout().dividedBy(2));
        this.trustsPushedGrants = settings.replicas() == 0;
        this.dialect = settings.queue()
                ? new QueueDialect(link, context.ttl(), waiterExpiry, replication)
                : new PlainDialect(link, context.ttl(), replication);
        this.requests = new Requests(link, context);
        this.waiters = new Waiters(this);
        this.renewer = new Renewer<>(context(), Batches.SIZE, LossReason.REVOKED, this::renew);
    }

    /** Connects. */
    void open() throws Failure {
        StartUpCheck.run(link, settings.eviction());
        if (dialect.traits().push()) {
            link.listen(context(), this);
        }
    }

    // ---------------------------------------------------------------- what claims and waiters share

    Scheduler scheduler() {
        return context().scheduler();
    }

    Duration ttl() {
        return context().ttl();
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

    Waiters waiters() {
        return waiters;
    }

    Requests requests() {
        return requests;
    }

    Renewer<RedisGrant> renewer() {
        return renewer;
    }

    /** How long to wait before the next try, where nobody wakes a waiter. */
    Duration pollDelay(int polls) {
        return POLLS.delay(polls);
    }

    /** A claim has nothing on the server any more, or is about to release it. */
    void forget(RedisClaim claim) {
        claims.remove(claim.request().claimId(), claim);
    }

    // ---------------------------------------------------------------- claims

    @Override
    public Traits traits() {
        return dialect.traits();
    }

    @Override
    public String address() {
        return link.route().toString();
    }

    @Override
    public Claim submit(ClaimRequest request) {
        Keys keys = new Keys(context().namespace(), request.name());
        RedisClaim claim = new RedisClaim(this, request, keys);
        claims.put(request.claimId(), claim);
        if (closed) {
            claim.close(context().closedFailure(request.name()));
        } else {
            claim.start();
        }
        return claim;
    }

    @Override
    public int batchSize() {
        return dialect.batchSize();
    }

    @Override
    public List<Claim> submitAll(List<? extends ClaimRequest> requests) {
        if (requests.size() == 1) {
            return super.submitAll(requests);
        }
        List<RedisClaim> batch = new ArrayList<>(requests.size());
        for (ClaimRequest request : requests) {
            RedisClaim claim = new RedisClaim(this, request, new Keys(context().namespace(), request.name()));
            claims.put(request.claimId(), claim);
            batch.add(claim);
        }
        if (closed) {
            batch.forEach(
                    claim -> claim.close(context().closedFailure(claim.request().name())));
        } else {
            new ClaimBatch(this, batch).start(requests.get(0).blockAtMost());
        }
        return List.copyOf(batch);
    }

    @Override
    public List<CompletionStage<Boolean>> releaseAll(List<? extends Grant> grants, Duration blockAtMost) {
        if (grants.size() == 1) {
            return super.releaseAll(grants, blockAtMost);
        }
        return new ReleaseBatch(
                        this, grants.stream().map(RedisGrant.class::cast).toList())
                .begin(blockAtMost);
    }

    @Override
    public void received(String word, String id, String[] more) {
        RedisClaim claim = claims.get(ClaimId.claimOf(id));
        if (claim == null) {
            return;
        }
        switch (word) {
            case "granted" -> {
                if (trustsPushedGrants && more.length == 2) {
                    claim.pushedGrant(id, Long.parseLong(more[0]), more[1].equals("1"));
                } else {
                    claim.pushedHint();
                }
            }
            case "free" -> claim.pushedHint();
            case "wanted" -> claim.pushedWanted();
            case "revoked" -> claim.pushedRevocation(id);
            default -> {}
        }
    }

    @Override
    public void subscribed() {
        waiters.lookEverywhere();
    }

    /** Renews server by server, side by side: one that is away must not cost the others' locks. */
    private CompletionStage<List<RedisGrant>> renew(List<RedisGrant> batch) {
        Map<String, List<RedisGrant>> groups = new HashMap<>();
        for (RedisGrant grant : batch) {
            int slot = link.slot(grant.claim().keys());
            String server = String.valueOf(link.route().serverOf(slot));
            groups.computeIfAbsent(server, unused -> new ArrayList<>()).add(grant);
        }
        long deadline = scheduler().nanoTime() + context().renewalTimeout().toNanos();
        List<CompletableFuture<Void>> parts = new ArrayList<>();
        for (List<RedisGrant> group : groups.values()) {
            CompletableFuture<Void> part = new CompletableFuture<>();
            link.executeUpkeep(() -> renew(group, deadline, part));
            parts.add(part);
        }
        return CompletableFuture.allOf(parts.toArray(CompletableFuture[]::new)).thenApply(done -> List.of());
    }

    /** Passes each grant its result; the renewer learns whether it has to try any of them again. */
    private void renew(List<RedisGrant> group, long deadlineNanos, CompletableFuture<Void> part) {
        long validUntil = Renewer.deadline(scheduler().nanoTime(), ttl());
        List<RedisGrant> lost = new ArrayList<>();
        List<Exception> failures = new ArrayList<>();
        try {
            dialect.renew(group, deadlineNanos).forEach((grant, reply) -> {
                try {
                    Renewal renewal = reply.get();
                    if (renewal == Renewal.LOST) {
                        lost.add(grant);
                    } else {
                        grant.renewedUntil(validUntil);
                    }
                    if (renewal == Renewal.WANTED) {
                        grant.signalWanted();
                    }
                } catch (Failure e) {
                    failures.add(e);
                }
            });
        } catch (RuntimeException e) {
            failures.add(e);
        }
        // Last, because what a loss sets off must not keep the others from their new deadline.
        for (RedisGrant grant : lost) {
            if (renewer.unregister(grant)) { // else it was released during this renewal
                grant.signalLost(LossReason.REVOKED);
            }
        }
        if (failures.isEmpty()) {
            part.complete(null);
        } else {
            part.completeExceptionally(failures.get(0));
        }
    }

    // ---------------------------------------------------------------- operators

    @Override
    public long lastContactNanos() {
        return link.lastContactNanos();
    }

    @Override
    public CompletionStage<Void> ping() {
        return requests.once(null, "ping", link::ping).thenAccept(pong -> {});
    }

    @Override
    public AdminBackend admin(String namespace) {
        return new RedisAdmin(this, namespace);
    }

    @Override
    public CompletionStage<List<String>> namespaces() {
        return requests.once(
                null, "list namespaces", deadline -> new KeyScan(link, scheduler(), deadline).namespaces());
    }

    @Override
    public CompletionStage<EngineInfo> describe() {
        return requests.once(null, "describe", deadline -> Description.of(link, settings, ttl(), deadline));
    }

    @Override
    public void close() {
        closed = true;
        renewer.close();
        link.close();
        claims.values().forEach(claim -> claim.close(context().closedFailure(null)));
        claims.clear();
        requests.close();
    }
}
