package dev.lockstep.redis;

import static dev.lockstep.redis.Dialect.bytes;

import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.Traits;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol;

/** The textbook's lock: one key, set if absent and deleted by its owner. No queue and no push, so waiters try again. */
final class PlainDialect implements Dialect {
    private static final Traits TRAITS = new Traits(false, false, false, false, Duration.ofMillis(100));

    private final Link link;
    private final byte[] ttl;
    private final Replication replication;
    private final Batches.Question<RedisGrant> renewals;
    private final Batches.Question<LockKeys> inspections;

    PlainDialect(Link link, Duration ttl, Replication replication) {
        this.link = link;
        this.ttl = bytes(ttl.toMillis());
        this.replication = replication;
        this.renewals = new Batches.Question<>(
                Script.PLAIN_RENEW,
                grant -> grant.claim().keys(),
                LockKeys::plain,
                List.of(this.ttl),
                grant -> grant.claim().owner(),
                replication::reached);
        this.inspections = new Batches.Question<>(
                Script.PLAIN_INSPECT, lock -> lock, LockKeys::plain, List.of(), LockKeys::lock, connection -> true);
    }

    @Override
    public Traits traits() {
        return TRAITS;
    }

    /** The key's value: unique to the claim, and readable by people. */
    @Override
    public byte[] ownerOf(ClaimRequest request) {
        return bytes(request.claimId() + '\n' + Infos.encode(request.holder()));
    }

    @Override
    public Answer acquire(RedisClaim claim, long deadlineNanos) throws Failure {
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
    public List<Answer> look(LockKeys keys, List<RedisClaim> claims, long deadlineNanos) {
        throw new UnsupportedOperationException("there is no queue to look at");
    }

    @Override
    public boolean release(RedisClaim claim, boolean late, long deadlineNanos) throws Failure {
        return link.eval(
                        Script.PLAIN_RELEASE,
                        link.slot(claim.keys()),
                        claim.keys().plainReleased(),
                        new byte[][] {claim.owner()},
                        deadlineNanos)
                .equals(1L);
    }

    @Override
    public boolean keep(RedisClaim claim, Duration rest, long deadlineNanos) throws Failure {
        Object reply = link.eval(
                Script.PLAIN_RENEW,
                link.slot(claim.keys()),
                claim.keys().plain(),
                new byte[][] {bytes(Math.max(1, rest.toMillis())), claim.owner()},
                deadlineNanos);
        return ((List<?>) reply).get(0).equals(1L);
    }

    @Override
    public boolean downgrade(RedisClaim claim, long deadlineNanos) {
        return false;
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
        return "string";
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
        if (reply.isEmpty()) {
            return LockInfo.free(name);
        }
        String value = Dialect.text(reply.get(0));
        String holder = value.substring(value.indexOf('\n') + 1);
        LockInfo.Entry entry = Infos.holder(LockMode.EXCLUSIVE, holder, (Long) reply.get(1), (Long) reply.get(2));
        return LockInfo.of(name, List.of(entry), List.of());
    }

    @Override
    public boolean forceRelease(LockKeys keys, long deadlineNanos) throws Failure {
        return link.call(
                        link.slot(keys),
                        deadlineNanos,
                        connection ->
                                connection.executeCommand(new CommandArguments(Protocol.Command.DEL).add(keys.lock())))
                .equals(1L);
    }

    @Override
    public boolean forceRelease(LockKeys keys, long token, long deadlineNanos) throws Failure {
        byte[][] args = {bytes(token)};
        return link.eval(Script.PLAIN_FORCE, link.slot(keys), keys.plainForced(), args, deadlineNanos)
                .equals(1L);
    }
}
