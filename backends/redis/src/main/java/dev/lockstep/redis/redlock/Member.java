package dev.lockstep.redis.redlock;

import static dev.lockstep.redis.internal.Bytes.bytes;

import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockstepException;
import dev.lockstep.redis.internal.ClaimId;
import dev.lockstep.redis.internal.Failure;
import dev.lockstep.redis.internal.Keys;
import dev.lockstep.redis.internal.Link;
import dev.lockstep.redis.internal.Operators;
import dev.lockstep.redis.internal.PushChannel;
import dev.lockstep.redis.internal.QueueOperators;
import dev.lockstep.redis.internal.Requests;
import dev.lockstep.redis.internal.Script;
import dev.lockstep.redis.internal.StartUpCheck;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.Scheduler;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One server of several: the way to it, and whether it has a vote. Safe for use by many threads. */
final class Member implements PushChannel.Listener, AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Member.class);

    private final RedlockBackend backend;
    private final int index;
    private final Link link;
    private final Requests requests;
    private final RequestQueue queue;
    private final Operators operators;
    private final Scheduler scheduler;
    private final boolean eviction;
    private final CompletableFuture<Boolean> seen = new CompletableFuture<>();
    private final Set<CompletableFuture<Boolean>> leaving = ConcurrentHashMap.newKeySet();
    private volatile boolean away;
    private volatile boolean refused;
    private volatile @Nullable Long bornNanos;
    private volatile Map<String, String> facts = Map.of();

    Member(RedlockBackend backend, int index, Link link, BackendContext context, boolean eviction) {
        this.eviction = eviction;
        this.backend = backend;
        this.index = index;
        this.link = link;
        this.scheduler = context.scheduler();
        this.requests = new Requests(link, context);
        this.queue = new RequestQueue(link, scheduler);
        this.operators = new QueueOperators(link);
    }

    int index() {
        return index;
    }

    Link link() {
        return link;
    }

    Requests requests() {
        return requests;
    }

    RequestQueue queue() {
        return queue;
    }

    /** How operators look at it. */
    Operators operators() {
        return operators;
    }

    /** Its report about itself when it was last met. */
    Map<String, String> facts() {
        return facts;
    }

    /** Its product and address, such as "Valkey 10.0.0.1:6379"; "Server 10.0.0.1:6379" if it was not met yet. */
    @Override
    public String toString() {
        return (facts.isEmpty() ? "Server" : StartUpCheck.product(facts)) + " " + link.route();
    }

    // ---------------------------------------------------------------- the vote

    /** It is so old, and has heard of such a ttl. */
    void judged(long ageMillis, long longestMillis) {
        bornNanos = scheduler.nanoTime() - TimeUnit.MILLISECONDS.toNanos(ageMillis);
        backend.heardOf(longestMillis);
    }

    /** Whether it is fit to be one of several, and all that it may have forgotten has ended. */
    boolean hasVote() {
        Long born = bornNanos;
        return born != null
                && !refused
                && scheduler.nanoTime() - born > TimeUnit.MILLISECONDS.toNanos(backend.longestMillis());
    }

    // ---------------------------------------------------------------- coming and going

    /** Begins to listen, now or as soon as the server is there. */
    void open(BackendContext context) {
        link.execute(() -> {
            try {
                link.listen(context, this);
            } catch (Failure e) {
                seen.completeExceptionally(e.asLockstepException(null, "connect"));
            }
        });
    }

    /** Whether it knew that it is one of several when it was first met. */
    CompletableFuture<Boolean> seen() {
        return seen;
    }

    /** The others have begun without it. */
    void comesLate() {
        seen.completeExceptionally(Failure.notSent(link.route().toString(), "no answer yet", null));
    }

    @Override
    public void subscribed() {
        link.execute(this::meet);
    }

    private void meet() {
        try {
            facts = StartUpCheck.run(link, eviction);
            MemberChecks.refuseTwice(this, backend.members());
            boolean known = join("look");
            if (!seen.complete(known)) {
                join("admit"); // it comes late, or again
                MemberChecks.warnOfDifferent(backend.members());
            }
            refused = false;
        } catch (Failure e) {
            seen.completeExceptionally(e.asLockstepException(null, "connect"));
            log.debug("{} could not be checked", this, e);
        } catch (LockstepException e) {
            refused = true;
            if (!seen.completeExceptionally(e)) {
                log.error("{} has no vote: {}", this, e.getMessage());
            }
        } catch (RuntimeException | Error e) {
            seen.completeExceptionally(e);
            log.error("{} could not be checked", this, e);
        }
    }

    /** Reads what the server remembers for all clients, and writes it if it is new; false if it knows nothing. */
    boolean join(String how) throws Failure {
        byte[][] keys = {Keys.CHARTER};
        byte[][] args = {bytes(backend.longestMillis()), bytes(backend.size()), bytes(how)};
        List<?> reply = (List<?>)
                link.eval(Script.REDLOCK_JOIN, -1, keys, args, backend.context().requestDeadlineNanos());
        if (reply.isEmpty()) {
            return false;
        }
        judged((Long) reply.get(0), (Long) reply.get(1));
        long servers = (Long) reply.get(2);
        if (servers != backend.size()) {
            throw new LockConfigurationException(
                    null,
                    this + " is one of " + servers + " servers for other clients, and one of "
                            + backend.size()
                            + " for this one. All clients must name the same servers. If the number has"
                            + " changed, stop all clients and delete the key lockstep:redlock on each server.");
        }
        return true;
    }

    @Override
    public void received(String word, String id, String[] more) {
        RedlockClaim claim = backend.claim(ClaimId.claimOf(id));
        if (claim == null || !claim.memberClaim(index).id().text().equals(id)) {
            return;
        }
        switch (word) {
            case "free" -> claim.pushedHint(claim.memberClaim(index));
            case "wanted" -> claim.pushedWanted();
            case "revoked" -> claim.pushedRevocation(claim.memberClaim(index));
            default -> {}
        }
    }

    /** Whether it did not answer the last time. */
    void isAway(boolean silent) {
        away = silent;
    }

    /** A claim releases what it has here. */
    void leaves(CompletableFuture<Boolean> left) {
        leaving.add(left);
        left.whenComplete((done, failure) -> leaving.remove(left));
    }

    /** Done when no release is under way here; does not wait if the server is away. */
    CompletableFuture<?> drained() {
        return away
                ? CompletableFuture.completedFuture(null)
                : CompletableFuture.allOf(leaving.toArray(CompletableFuture[]::new));
    }

    @Override
    public void close() {
        link.close();
        requests.close();
        leaving.forEach(left -> left.completeExceptionally(backend.context().closedFailure(null)));
    }
}
