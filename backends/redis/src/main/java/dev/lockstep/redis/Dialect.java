package dev.lockstep.redis;

import dev.lockstep.LockInfo;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.Traits;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * How locks are kept at the server: which keys, which scripts. Each call is one round trip in the calling thread, until
 * a deadline at most. Safe for use by many threads.
 */
interface Dialect {
    Traits traits();

    /** What identifies a claim at the server, and says who made it. */
    default byte[] ownerOf(ClaimRequest request) {
        return bytes(request.claimId());
    }

    /** Asks for a lock, for the first time or again. */
    Answer acquire(RedisClaim claim, long deadlineNanos) throws Failure;

    /** Keeps claims for one lock waiting, and tells what became of them, in their order. */
    List<Answer> look(LockKeys keys, List<RedisClaim> claims, long deadlineNanos) throws Failure;

    /**
     * Gives back what a claim has.
     *
     * @param late whether a request for the claim may still arrive, which must then get nothing
     * @return whether it had the lock
     */
    boolean release(RedisClaim claim, boolean late, long deadlineNanos) throws Failure;

    /**
     * Lets a claim's hold end by itself after a time.
     *
     * @return whether it had the lock
     */
    boolean keep(RedisClaim claim, Duration rest, long deadlineNanos) throws Failure;

    /** Makes a claim's hold a shared one. */
    boolean downgrade(RedisClaim claim, long deadlineNanos) throws Failure;

    /** Prolongs grants; a reply for each. */
    Map<RedisGrant, Reply<Renewal>> renew(List<RedisGrant> grants, long deadlineNanos);

    /** The type of keys that tell of a lock. */
    String keyType();

    /** Tells who holds and who waits; a reply for each lock. */
    Map<LockKeys, Reply<LockInfo>> inspect(List<LockKeys> locks, long deadlineNanos);

    /** Tells who holds and who waits for one lock. */
    default LockInfo inspect(LockKeys lock, long deadlineNanos) throws Failure {
        return Objects.requireNonNull(inspect(List.of(lock), deadlineNanos).get(lock), lock.lockName())
                .get();
    }

    /** Ends every grant of a lock; false if there was none. */
    boolean forceRelease(LockKeys keys, long deadlineNanos) throws Failure;

    /** Ends the grant of a lock that has a token; false if there is none. */
    boolean forceRelease(LockKeys keys, long token, long deadlineNanos) throws Failure;

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    static byte[] bytes(long number) {
        return Long.toString(number).getBytes(StandardCharsets.US_ASCII);
    }

    static String text(Object bytes) {
        return new String((byte[]) bytes, StandardCharsets.UTF_8);
    }
}
