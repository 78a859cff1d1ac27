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
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol;

/** The textbook's lock: one key, set if absent and deleted by its owner. No queue and no push, so waiters try again. */
final class PlainDialect implements Dialect {
    private static final Traits TRAITS = new Traits(false, false, false, false, Duration.ofMillis(100));
    private static final byte[][] NOTHING = {};

    private final Link link;
    private final String namespace;
    private final byte[] ttl;
    private final Replication replication;

    PlainDialect(Link link, String namespace, Duration ttl, Replication replication) {
        this.link = link;
        this.namespace = namespace;
        this.ttl = bytes(ttl.toMillis());
        this.replication = replication;
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
                slot(claim.keys()),
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
        byte[][] keys = {claim.keys().lock()};
        return link.eval(Script.PLAIN_RELEASE, slot(claim.keys()), keys, new byte[][] {claim.owner()}, deadlineNanos)
                .equals(1L);
    }

    @Override
    public boolean downgrade(RedisClaim claim, long deadlineNanos) {
        return false;
    }

    @Override
    public List<RedisGrant> renew(List<RedisGrant> grants, long deadlineNanos) throws Failure {
        Map<Integer, List<RedisGrant>> groups = new LinkedHashMap<>();
        for (RedisGrant grant : grants) {
            groups.computeIfAbsent(slot(grant.claim().keys()), unused -> new ArrayList<>())
                    .add(grant);
        }
        List<Link.Run> runs = new ArrayList<>();
        groups.forEach((slot, group) -> runs.add(renewal(slot, group)));
        List<Object> replies = link.evalAll(runs, deadlineNanos);
        List<RedisGrant> lost = new ArrayList<>();
        int i = 0;
        for (List<RedisGrant> group : groups.values()) {
            List<?> reply = (List<?>) replies.get(i++);
            for (int j = 0; j < group.size(); j++) {
                if (reply.get(j).equals(0L)) {
                    lost.add(group.get(j));
                }
            }
        }
        return lost;
    }

    private Link.Run renewal(int slot, List<RedisGrant> group) {
        List<byte[]> keys = new ArrayList<>(group.size() * 2);
        byte[][] args = new byte[group.size() + 1][];
        args[0] = ttl;
        for (int i = 0; i < group.size(); i++) {
            RedisClaim claim = group.get(i).claim();
            keys.addAll(List.of(claim.keys().plain()));
            args[i + 1] = claim.owner();
        }
        return new Link.Run(Script.PLAIN_RENEW, slot, keys.toArray(byte[][]::new), args);
    }

    @Override
    public List<LockInfo> inspect(List<String> names, long deadlineNanos) throws Failure {
        List<Link.Run> runs = new ArrayList<>();
        for (String name : names) {
            LockKeys keys = new LockKeys(namespace, name);
            runs.add(new Link.Run(Script.PLAIN_INSPECT, slot(keys), keys.plain(), NOTHING));
        }
        List<Object> replies = link.evalAll(runs, deadlineNanos);
        List<LockInfo> infos = new ArrayList<>();
        for (int i = 0; i < names.size(); i++) {
            List<?> reply = (List<?>) replies.get(i);
            List<LockInfo.Entry> holders = new ArrayList<>();
            if (!reply.isEmpty()) {
                String value = Dialect.text(reply.get(0));
                String info = value.substring(value.indexOf('\n') + 1);
                holders.add(Infos.entry(LockMode.EXCLUSIVE, (Long) reply.get(1), info));
            }
            infos.add(new LockInfo(names.get(i), holders, List.of()));
        }
        return infos;
    }

    @Override
    public boolean forceRelease(LockKeys keys, long deadlineNanos) throws Failure {
        return link.call(
                        slot(keys),
                        deadlineNanos,
                        connection ->
                                connection.executeCommand(new CommandArguments(Protocol.Command.DEL).add(keys.lock())))
                .equals(1L);
    }

    private int slot(LockKeys keys) {
        return link.route().isCluster() ? keys.slot() : -1;
    }
}
