package dev.lockstep.redis.internal;

import static dev.lockstep.redis.internal.Bytes.bytes;
import static dev.lockstep.redis.internal.Bytes.text;

import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
import java.util.List;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol;

/** Operators' requests for the textbook's lock. */
public final class PlainOperators extends Operators {
    public PlainOperators(Link link) {
        super(link, Script.PLAIN_INSPECT, Keys::plain);
    }

    @Override
    String keyType() {
        return "string";
    }

    @Override
    LockInfo info(String name, List<?> reply) {
        if (reply.isEmpty()) {
            return LockInfo.free(name);
        }
        String value = text(reply.get(0));
        int end = value.indexOf('\n');
        String claim = value.substring(0, Math.max(end, 0));
        String holder = value.substring(end + 1);
        LockInfo.Entry entry =
                StoredHolder.holder(claim, LockMode.EXCLUSIVE, holder, (Long) reply.get(1), (Long) reply.get(2));
        return LockInfo.of(name, List.of(entry), List.of());
    }

    @Override
    public boolean forceRelease(Keys keys, long deadlineNanos) throws Failure {
        CommandArguments delete = new CommandArguments(Protocol.Command.DEL).add(keys.lock());
        return link.call("force", link.slot(keys), deadlineNanos, connection -> connection.executeCommand(delete))
                .equals(1L);
    }

    @Override
    public boolean forceRelease(Keys keys, long token, long deadlineNanos) throws Failure {
        byte[][] args = {bytes(token)};
        return link.eval(Script.PLAIN_FORCE, link.slot(keys), keys.plainForced(), args, deadlineNanos)
                .equals(1L);
    }
}
