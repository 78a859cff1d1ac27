package dev.lockstep.redis;

import static dev.lockstep.redis.internal.Bytes.bytes;

import dev.lockstep.LockInfo;
import dev.lockstep.redis.internal.Failure;
import dev.lockstep.redis.internal.Keys;
import dev.lockstep.redis.internal.Link;
import dev.lockstep.redis.internal.PlainOperators;
import dev.lockstep.redis.internal.Script;
import dev.lockstep.redis.internal.StoredHolder;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.Traits;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** The textbook's lock: one key, set if absent and deleted by its owner. No queue and no push, so waiters try again. */
final class PlainDialect extends Dialect {
    private static final Traits TRAITS = Traits.of(Duration.ofMillis(100));

    PlainDialect(Link link, Duration ttl, Replication replication) {
        super(new PlainOperators(link), link, ttl, replication, Script.PLAIN_RENEW, Keys::plain);
    }

    @Override
    Traits traits() {
        return TRAITS;
    }

    /** The key's value: unique to the claim, and readable by people. */
    @Override
    byte[] ownerOf(ClaimRequest request) {
        return bytes(request.claimId() + '\n' + StoredHolder.encode(request.holder()));
    }

    @Override
    Answer acquire(RedisClaim claim, long deadlineNanos) throws Failure {
        Object reply = link.eval(
                Script.PLAIN_ACQUIRE,
                link.slot(claim.keys()),
                claim.keys().plain(),
                new byte[][] {claim.owner(), ttl},
                deadlineNanos,
                (connection, answer) -> !answer.equals(-1L) && !replication.reached(connection) ? -2L : answer);
        long token = (Long) reply;
        if (token > 0) {
            return Answer.granted(token, false);
        }
        if (token == -2) {
            return Answer.UNREPLICATED;
        }
        return claim.request().mayWait() ? Answer.waiting(-1) : Answer.BUSY;
    }

    @Override
    List<Answer> look(Keys keys, List<RedisClaim> claims, long deadlineNanos) {
        throw new UnsupportedOperationException("there is no queue to look at");
    }

    @Override
    boolean release(RedisClaim claim, boolean late, long deadlineNanos) throws Failure {
        return link.eval(
                        Script.PLAIN_RELEASE,
                        link.slot(claim.keys()),
                        claim.keys().plainReleased(),
                        new byte[][] {claim.owner()},
                        deadlineNanos)
                .equals(1L);
    }

    @Override
    boolean keep(RedisClaim claim, Duration rest, long deadlineNanos) throws Failure {
        Object reply = link.eval(
                Script.PLAIN_RENEW,
                link.slot(claim.keys()),
                claim.keys().plain(),
                new byte[][] {bytes(Math.max(1, rest.toMillis())), claim.owner()},
                deadlineNanos);
        return ((List<?>) reply).get(0).equals(1L);
    }

    @Override
    boolean downgrade(RedisClaim claim, long deadlineNanos) {
        return false;
    }

    @Override
    List<Integer> slots(RedisClaim claim, long deadlineNanos) {
        throw new UnsupportedOperationException("there are no semaphores");
    }

    /** The one key of the lock has no room for it. */
    @Override
    boolean recordWait(RedisClaim claim, Optional<LockInfo.Wait> wait, long deadlineNanos) {
        return false;
    }
}
