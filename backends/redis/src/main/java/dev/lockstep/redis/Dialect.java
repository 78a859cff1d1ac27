package dev.lockstep.redis;

import dev.lockstep.LockInfo;
import dev.lockstep.redis.internal.Batches;
import dev.lockstep.redis.internal.Bytes;
import dev.lockstep.redis.internal.Failure;
import dev.lockstep.redis.internal.Keys;
import dev.lockstep.redis.internal.Link;
import dev.lockstep.redis.internal.Operators;
import dev.lockstep.redis.internal.Renewal;
import dev.lockstep.redis.internal.Reply;
import dev.lockstep.redis.internal.Script;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.Traits;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * The representation of locks on the server: the keys and the scripts. Each call is one round trip in the calling
 * thread, until a deadline at most. Safe for use by many threads.
 */
abstract class Dialect {
    final Link link;
    final byte[] ttl;
    final Replication replication;
    private final Operators operators;
    private final Batches.Question<RedisGrant> renewals;

    Dialect(
            Operators operators,
            Link link,
            Duration ttl,
            Replication replication,
            Script renew,
            Function<Keys, byte[][]> keys) {
        this.operators = operators;
        this.link = link;
        this.ttl = Bytes.bytes(ttl.toMillis());
        this.replication = replication;
        this.renewals = new Batches.Question<>(
                renew,
                grant -> grant.claim().keys(),
                keys,
                List.of(this.ttl),
                grant -> grant.claim().owner(),
                replication::reached);
    }

    abstract Traits traits();

    /** Operators' requests for locks of this kind. */
    final Operators operators() {
        return operators;
    }

    /** Identifies a claim on the server, and says who made it. */
    byte[] ownerOf(ClaimRequest request) {
        return Bytes.bytes(request.claimId());
    }

    /** Asks for a lock, for the first time or again. */
    abstract Answer acquire(RedisClaim claim, long deadlineNanos) throws Failure;

    /** How many locks {@link #acquireMany} and {@link #releaseMany} handle at once; 1 if they cannot. */
    int batchSize() {
        return 1;
    }

    /** Asks for locks that are free, in their order; a reply for each, which is busy from the first on that is not. */
    Map<RedisClaim, Reply<Answer>> acquireMany(List<RedisClaim> claims, long deadlineNanos) {
        throw new UnsupportedOperationException("one lock at a time");
    }

    /** Releases what claims have; a reply for each: whether it was done, or must be done alone. */
    Map<RedisClaim, Reply<Boolean>> releaseMany(List<RedisClaim> claims, long deadlineNanos) {
        throw new UnsupportedOperationException("one lock at a time");
    }

    /** Keeps claims for one lock waiting, and returns the state of each, in their order. */
    abstract List<Answer> look(Keys keys, List<RedisClaim> claims, long deadlineNanos) throws Failure;

    /**
     * Releases what a claim has.
     *
     * @param late whether a request for the claim may still arrive, which must then get nothing
     * @return whether it had the lock
     */
    abstract boolean release(RedisClaim claim, boolean late, long deadlineNanos) throws Failure;

    /**
     * Lets a claim's hold end by itself after a time.
     *
     * @return whether it had the lock
     */
    abstract boolean keep(RedisClaim claim, Duration rest, long deadlineNanos) throws Failure;

    /** Makes a claim's hold a shared one. */
    abstract boolean downgrade(RedisClaim claim, long deadlineNanos) throws Failure;

    /** The slots of a claim that has permits of a semaphore; none if it has lost them. */
    abstract List<Integer> slots(RedisClaim claim, long deadlineNanos) throws Failure;

    /**
     * Stores, beside a claim's hold, the lock that its holder waits for, or removes that.
     *
     * @return false if it does not have the lock any more, or this cannot be stored
     */
    abstract boolean recordWait(RedisClaim claim, Optional<LockInfo.Wait> wait, long deadlineNanos) throws Failure;

    /** Prolongs grants; a reply for each. */
    final Map<RedisGrant, Reply<Renewal>> renew(List<RedisGrant> grants, long deadlineNanos) {
        Map<RedisGrant, Reply<Renewal>> replies = new LinkedHashMap<>();
        Batches.ask(link, link.own(), renewals, grants, deadlineNanos)
                .forEach((grant, reply) -> replies.put(grant, reply.map(Renewal::of)));
        return replies;
    }
}
