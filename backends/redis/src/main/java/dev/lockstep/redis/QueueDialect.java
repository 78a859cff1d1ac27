package dev.lockstep.redis;

import static dev.lockstep.redis.Dialect.bytes;

import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.Traits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The lock with a queue at the server: fair and not, exclusive and shared, woken by push. */
final class QueueDialect implements Dialect {
    private static final Traits TRAITS = new Traits(true, true, true, true, Duration.ofMillis(100));
    private static final byte[] YES = bytes("1");
    private static final byte[] NO = bytes("0");
    private static final byte[] EXCLUSIVE = bytes("X");
    private static final byte[] SHARED = bytes("S");
    private static final byte[][] NOTHING = {};

    private final Link link;
    private final byte[] ttl;
    private final byte[] waiterExpiry;
    private final Replication replication;
    private final Batches.Question<RedisGrant> renewals;
    private final Batches.Question<LockKeys> inspections;

    QueueDialect(Link link, Duration ttl, Duration waiterExpiry, Replication replication) {
        this.link = link;
        this.ttl = bytes(ttl.toMillis());
        this.waiterExpiry = bytes(waiterExpiry.toMillis());
        this.replication = replication;
        this.renewals = new Batches.Question<>(
                Script.RENEW,
                grant -> grant.claim().keys(),
                LockKeys::renewed,
                List.of(this.ttl),
                grant -> grant.claim().owner(),
                replication::reached);
        this.inspections = new Batches.Question<>(
                Script.INSPECT, lock -> lock, LockKeys::renewed, List.of(), LockKeys::lock, connection -> true);
    }

    @Override
    public Traits traits() {
        return TRAITS;
    }

    @Override
    public Answer acquire(RedisClaim claim, long deadlineNanos) throws Failure {
        ClaimRequest request = claim.request();
        byte[][] args = {
            claim.owner(),
            request.mode() == LockMode.EXCLUSIVE ? EXCLUSIVE : SHARED,
            request.mayWait() ? YES : NO,
            request.mayBarge() ? YES : NO,
            ttl,
            waiterExpiry,
            claim.info()
        };
        List<?> reply = (List<?>) link.eval(
                Script.ACQUIRE,
                link.slot(claim.keys()),
                claim.keys().queued(),
                args,
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
            default -> Answer.GIVEN_UP;
        };
    }

    @Override
    public List<Answer> look(LockKeys keys, List<RedisClaim> claims, long deadlineNanos) throws Failure {
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
    public boolean release(RedisClaim claim, boolean late, long deadlineNanos) throws Failure {
        byte[][] args = {claim.owner(), late ? ttl : NO};
        return eval(Script.RELEASE, claim.keys(), args, deadlineNanos).equals(1L);
    }

    @Override
    public boolean keep(RedisClaim claim, Duration rest, long deadlineNanos) throws Failure {
        byte[][] args = {claim.owner(), bytes(Math.max(1, rest.toMillis()))};
        return eval(Script.KEEP, claim.keys(), args, deadlineNanos).equals(1L);
    }

    @Override
    public boolean downgrade(RedisClaim claim, long deadlineNanos) throws Failure {
        return eval(Script.DOWNGRADE, claim.keys(), new byte[][] {claim.owner(), ttl}, deadlineNanos)
                .equals(1L);
    }

    @Override
    public Map<RedisGrant, Reply<Renewal>> renew(List<RedisGrant> grants, long deadlineNanos) {
        Map<RedisGrant, Reply<Renewal>> replies = new LinkedHashMap<>();
        Batches.ask(link, link.own(), renewals, grants, deadlineNanos)
                .forEach((grant, reply) -> replies.put(grant, reply.map(Renewal::of)));
        return replies;
    }

    @Override
    public String keyType() {
        return "hash";
    }

    @Override
    public Map<LockKeys, Reply<LockInfo>> inspect(List<LockKeys> locks, long deadlineNanos) {
        Map<LockKeys, Reply<LockInfo>> infos = new LinkedHashMap<>();
        Batches.ask(link, link.pooled(), inspections, locks, deadlineNanos)
                .forEach((lock, reply) ->
                        infos.put(lock, reply.map(answer -> info(lock.lockName(), (List<?>) answer))));
        return infos;
    }

    private static LockInfo info(String name, List<?> reply) {
        List<LockInfo.Entry> holders = new ArrayList<>();
        List<LockInfo.Entry> waiters = new ArrayList<>();
        for (int i = 0; i < reply.size(); i += 4) {
            LockMode mode = Dialect.text(reply.get(i)).equals("X") ? LockMode.EXCLUSIVE : LockMode.SHARED;
            long token = longNumber(reply, i + 1);
            String info = Dialect.text(reply.get(i + 2));
            if (token > 0) {
                holders.add(Infos.holder(mode, info, token, longNumber(reply, i + 3)));
            } else {
                waiters.add(Infos.waiter(mode, info));
            }
        }
        return LockInfo.of(name, holders, waiters);
    }

    @Override
    public boolean forceRelease(LockKeys keys, long deadlineNanos) throws Failure {
        return !eval(Script.FORCE, keys, NOTHING, deadlineNanos).equals(0L);
    }

    @Override
    public boolean forceRelease(LockKeys keys, long token, long deadlineNanos) throws Failure {
        return eval(Script.FORCE_ONE, keys, new byte[][] {bytes(token)}, deadlineNanos)
                .equals(1L);
    }

    private Object eval(Script script, LockKeys keys, byte[][] args, long deadlineNanos) throws Failure {
        return link.eval(script, link.slot(keys), keys.queued(), args, deadlineNanos);
    }

    private static long longNumber(List<?> reply, int index) {
        return (Long) reply.get(index);
    }

    private static int number(List<?> reply, int index) {
        return Math.toIntExact(longNumber(reply, index));
    }
}
