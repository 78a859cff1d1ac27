package dev.lockstep.redis.redlock;

import dev.lockstep.EngineInfo;
import dev.lockstep.LossReason;
import dev.lockstep.redis.internal.Batches;
import dev.lockstep.redis.internal.Bytes;
import dev.lockstep.redis.internal.Failure;
import dev.lockstep.redis.internal.Keys;
import dev.lockstep.redis.internal.Link;
import dev.lockstep.redis.internal.Settings;
import dev.lockstep.redis.internal.StartUpCheck;
import dev.lockstep.spi.AbstractBackend;
import dev.lockstep.spi.AdminBackend;
import dev.lockstep.spi.Answers;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.Renewer;
import dev.lockstep.spi.Scheduler;
import dev.lockstep.spi.Traits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;

/** Locks on a majority of several independent Redis servers. Safe for use by many threads. */
final class RedlockBackend extends AbstractBackend {
    private static final Traits TRAITS =
            Traits.of(Duration.ofMillis(100)).withPush(true).withReportsWanted(true);

    private final List<Member> members = new ArrayList<>();
    private final byte[] ttlMillis;
    private final byte[] waiterExpiryMillis;
    private final AtomicLong longestMillis;
    private final long startNanos;
    private final Renewer<RedlockGrant> renewer;
    private final Map<String, RedlockClaim> claims = new ConcurrentHashMap<>();
    private volatile boolean closed;

    RedlockBackend(BackendContext context, List<Link> links, Settings settings) {
        super(context);
        this.ttlMillis = Bytes.bytes(context.ttl().toMillis());
        Duration expiry = settings.waiterExpiry();
        this.waiterExpiryMillis =
                Bytes.bytes((expiry.compareTo(context.ttl()) < 0 ? expiry : context.ttl()).toMillis());
        this.longestMillis = new AtomicLong(context.ttl().toMillis());
        this.startNanos = context.scheduler().nanoTime();
        for (Link link : links) {
            members.add(new Member(this, members.size(), link, context, settings.eviction()));
        }
        this.renewer =
                new Renewer<>(context, Batches.SIZE, LossReason.REVOKED, batch -> RedlockRenewal.of(this, batch));
    }

    /** Connects to as many servers as there are, a majority at least. */
    void open() {
        members.forEach(member -> member.open(context()));
        FirstMeeting.of(members, majority(), context().requestTimeout());
    }

    // ---------------------------------------------------------------- what claims and members share

    Scheduler scheduler() {
        return context().scheduler();
    }

    Duration ttl() {
        return context().ttl();
    }

    byte[] ttlMillis() {
        return ttlMillis;
    }

    byte[] waiterExpiryMillis() {
        return waiterExpiryMillis;
    }

    List<Member> members() {
        return members;
    }

    int size() {
        return members.size();
    }

    int majority() {
        return members.size() / 2 + 1;
    }

    /** The longest ttl of any client, as far as this one has heard. */
    long longestMillis() {
        return longestMillis.get();
    }

    void heardOf(long ttl) {
        longestMillis.accumulateAndGet(ttl, Math::max);
    }

    Renewer<RedlockGrant> renewer() {
        return renewer;
    }

    @Nullable
    RedlockClaim claim(String claimId) {
        return claims.get(claimId);
    }

    /** A claim has nothing on the servers any more, or is about to release it. */
    void forget(RedlockClaim claim) {
        claims.remove(claim.request().claimId(), claim);
    }

    // ---------------------------------------------------------------- claims

    @Override
    public Traits traits() {
        return TRAITS;
    }

    @Override
    public String address() {
        return members.stream().map(member -> member.link().route().toString()).collect(Collectors.joining(", "));
    }

    @Override
    public Claim submit(ClaimRequest request) {
        RedlockClaim claim = new RedlockClaim(this, request, new Keys(context().namespace(), request.name()));
        claims.put(request.claimId(), claim);
        if (closed) {
            claim.close(context().closedFailure(request.name()));
        } else {
            claim.ask();
        }
        return claim;
    }

    /** When a majority of servers that have a vote last answered. */
    @Override
    public long lastContactNanos() {
        long now = scheduler().nanoTime();
        long[] silences = members.stream()
                .mapToLong(member -> member.hasVote() ? now - member.link().lastContactNanos() : now - startNanos)
                .sorted()
                .toArray();
        return now - silences[majority() - 1];
    }

    // ---------------------------------------------------------------- operators

    /** Asks each server once; a majority must answer, and those that are not slower are waited for. */
    <T> CompletableFuture<List<T>> askAll(@Nullable String name, String what, Question<T> question) {
        List<CompletableFuture<T>> answers = new ArrayList<>();
        for (Member member : members) {
            answers.add(member.requests().once(name, what, deadline -> question.ask(member, deadline)));
        }
        return Quorum.most(answers, majority(), scheduler());
    }

    /** A request to each server. */
    @FunctionalInterface
    interface Question<T> {
        T ask(Member member, long deadlineNanos) throws Failure;
    }

    @Override
    public CompletionStage<Void> ping() {
        return askAll(null, "ping", (member, deadline) -> {
                    member.link().ping(deadline);
                    return member.hasVote() || member.join("admit");
                })
                .thenAccept(pongs -> {});
    }

    @Override
    public CompletionStage<EngineInfo> describe() {
        return askAll(null, "describe", (member, deadline) -> {
                    member.link().call("ping", -1, deadline, Connection::ping);
                    return StartUpCheck.productAndVersion(member.facts());
                })
                .thenApply(versions -> Description.of(new TreeSet<>(versions), size(), majority(), ttl()));
    }

    @Override
    public AdminBackend admin(String namespace) {
        return new RedlockAdmin(this, namespace);
    }

    @Override
    public CompletionStage<List<String>> namespaces() {
        return new RedlockAdmin(this, context().namespace()).namespaces();
    }

    @Override
    public void close() {
        closed = true;
        renewer.close();
        // A release that a majority has answered may still be under way to the others.
        Answers.await(
                CompletableFuture.allOf(members.stream().map(Member::drained).toArray(CompletableFuture[]::new)),
                context().requestTimeout());
        members.forEach(Member::close);
        claims.values().forEach(claim -> claim.close(context().closedFailure(null)));
        claims.clear();
    }
}
