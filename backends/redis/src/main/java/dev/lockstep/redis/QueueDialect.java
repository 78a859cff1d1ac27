package dev.lockstep.redis;

import static dev.lockstep.redis.internal.Bytes.bytes;

import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
import dev.lockstep.redis.internal.Batches;
import dev.lockstep.redis.internal.Failure;
import dev.lockstep.redis.internal.Keys;
import dev.lockstep.redis.internal.Link;
import dev.lockstep.redis.internal.QueueOperators;
import dev.lockstep.redis.internal.Reply;
import dev.lockstep.redis.internal.Script;
import dev.lockstep.redis.internal.ScriptRun;
import dev.lockstep.redis.internal.StoredHolder;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.Traits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The lock with a queue on the server: fair and not, exclusive and shared, woken by push. */
final class QueueDialect extends Dialect {
    private static final Traits TRAITS = Traits.of(Duration.ofMillis(100))
            .withPush(true)
            .withReportsWanted(true)
            .withShared(true)
            .withFair(true)
            .withLimits(true);
    private static final byte[] YES = bytes("1");
    private static final byte[] NO = bytes("0");
    private static final byte[] EXCLUSIVE = bytes("X");
    private static final byte[] SHARED = bytes("S");

    private final StoredHolder.Encoder holders = new StoredHolder.Encoder();
    private final byte[] waiterExpiry;

    QueueDialect(Link link, Duration ttl, Duration waiterExpiry, Replication replication) {
        super(new QueueOperators(link), link, ttl, replication, Script.RENEW, Keys::renewed);
        this.waiterExpiry = bytes(waiterExpiry.toMillis());
    }

    @Override
    Traits traits() {
        return TRAITS;
    }

    @Override
    Answer acquire(RedisClaim claim, long deadlineNanos) throws Failure {
        ClaimRequest request = claim.request();
        List<byte[]> args = new ArrayList<>(List.of(
                claim.owner(),
                request.mode() == LockMode.EXCLUSIVE ? EXCLUSIVE : SHARED,
                request.mayWait() ? YES : NO,
                request.mayBarge() ? YES : NO,
                ttl,
                waiterExpiry,
                holders.encode(request.holder())));
        if (request.limit().isPresent()) {
            args.add(bytes(request.limit().getAsInt()));
            args.add(bytes(request.permits()));
        }
        List<?> reply = (List<?>) link.eval(
                Script.ACQUIRE,
                link.slot(claim.keys()),
                claim.keys().queued(),
                args.toArray(byte[][]::new),
                deadlineNanos,
                (connection, answer) -> {
                    boolean granted = number((List<?>) answer, 0) == 1;
                    return granted && !replication.reached(connection) ? List.of(2L) : answer;
                });
        return switch (number(reply, 0)) {
            case 1 -> Answer.granted(longNumber(reply, 1), number(reply, 2) == 1);
            case 0 -> Answer.waiting(longNumber(reply, 1));
            case -1 -> Answer.BUSY;
            case 2 -> Answer.UNREPLICATED;
            case -3 -> Answer.conflict(number(reply, 1));
            default -> Answer.GIVEN_UP;
        };
    }

    @Override
    int batchSize() {
        return Batches.SIZE;
    }

    @Override
    Map<RedisClaim, Reply<Answer>> acquireMany(List<RedisClaim> claims, long deadlineNanos) {
        byte[] info = holders.encode(claims.get(0).request().holder());
        boolean[] replicated = {true};
        Batches.Question<RedisClaim> question = new Batches.Question<>(
                Script.ACQUIRE_MANY,
                RedisClaim::keys,
                Keys::taken,
                List.of(ttl, info),
                RedisClaim::owner,
                connection -> {
                    replicated[0] &= replication.reached(connection);
                    return true; // the grant was written, and has to be released
                });
        Map<RedisClaim, Reply<Object>> replies = Batches.ask(link, link.pooled(), question, claims, deadlineNanos);
        Map<RedisClaim, Reply<Answer>> answers = new LinkedHashMap<>();
        replies.forEach((claim, reply) -> answers.put(claim, reply.map(token -> {
            Answer granted = replicated[0] ? Answer.granted((Long) token, false) : Answer.UNREPLICATED;
            return (Long) token > 0 ? granted : Answer.BUSY;
        })));
        return answers;
    }

    @Override
    Map<RedisClaim, Reply<Boolean>> releaseMany(List<RedisClaim> claims, long deadlineNanos) {
        Batches.Question<RedisClaim> question = new Batches.Question<>(
                Script.RELEASE_MANY,
                RedisClaim::keys,
                Keys::released,
                List.of(ttl),
                RedisClaim::owner,
                connection -> true);
        Map<RedisClaim, Reply<Boolean>> answers = new LinkedHashMap<>();
        Batches.ask(link, link.pooled(), question, claims, deadlineNanos)
                .forEach((claim, reply) -> answers.put(claim, reply.map(done -> done.equals(1L))));
        return answers;
    }

    @Override
    List<Answer> look(Keys keys, List<RedisClaim> claims, long deadlineNanos) throws Failure {
        byte[][] args = new byte[claims.size() + 2][];
        args[0] = ttl;
        args[1] = waiterExpiry;
        for (int i = 0; i < claims.size(); i++) {
            args[i + 2] = claims.get(i).owner();
        }
        boolean[] replicated = {true};
        List<?> reply = (List<?>) link.eval(
                Script.LOOK, link.slot(keys), keys.queued(), args, deadlineNanos, (connection, answer) -> {
                    replicated[0] = !hasGrant((List<?>) answer) || replication.reached(connection);
                    return answer;
                });
        Answer waiting = Answer.waiting(longNumber(reply, 0));
        List<Answer> answers = new ArrayList<>(claims.size());
        for (int i = 0; i < claims.size(); i++) {
            long token = longNumber(reply, 1 + 2 * i);
            boolean wanted = number(reply, 2 + 2 * i) == 1;
            Answer granted = replicated[0] ? Answer.granted(token, wanted) : Answer.UNREPLICATED;
            answers.add(token > 0 ? granted : token == 0 ? waiting : Answer.MISSING);
        }
        return answers;
    }

    private static boolean hasGrant(List<?> lookReply) {
        for (int i = 1; i < lookReply.size(); i += 2) {
            if (longNumber(lookReply, i) > 0) {
                return true;
            }
        }
        return false;
    }

    @Override
    boolean release(RedisClaim claim, boolean late, long deadlineNanos) throws Failure {
        byte[][] args = {claim.owner(), late ? ttl : NO};
        return link.eval(Script.RELEASE, claim.keys(), args, deadlineNanos).equals(1L);
    }

    @Override
    boolean keep(RedisClaim claim, Duration rest, long deadlineNanos) throws Failure {
        byte[][] args = {claim.owner(), bytes(Math.max(1, rest.toMillis()))};
        return link.eval(Script.KEEP, claim.keys(), args, deadlineNanos).equals(1L);
    }

    @Override
    boolean downgrade(RedisClaim claim, long deadlineNanos) throws Failure {
        return link.eval(Script.DOWNGRADE, claim.keys(), new byte[][] {claim.owner(), ttl}, deadlineNanos)
                .equals(1L);
    }

    /** Two holders must not have one slot after a failover either. */
    @Override
    List<Integer> slots(RedisClaim claim, long deadlineNanos) throws Failure {
        ScriptRun run = new ScriptRun(
                Script.SLOTS, link.slot(claim.keys()), claim.keys().queued(), new byte[][] {claim.owner()});
        List<?> reply = (List<?>) link.eval(link.pooled(), run, deadlineNanos, replication::reached);
        return reply.stream().map(slot -> Math.toIntExact((Long) slot)).toList();
    }

    @Override
    boolean recordWait(RedisClaim claim, Optional<LockInfo.Wait> wait, long deadlineNanos) throws Failure {
        return QueueOperators.recordWait(link, claim.keys(), claim.owner(), wait, deadlineNanos);
    }

    private static long longNumber(List<?> reply, int index) {
        return (Long) reply.get(index);
    }

    private static int number(List<?> reply, int index) {
        return Math.toIntExact(longNumber(reply, index));
    }
}
