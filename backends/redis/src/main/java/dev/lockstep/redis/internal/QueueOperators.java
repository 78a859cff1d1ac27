package dev.lockstep.redis.internal;

import static dev.lockstep.redis.internal.Bytes.bytes;
import static dev.lockstep.redis.internal.Bytes.text;

import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
import dev.lockstep.spi.HolderText;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Operators' requests for the lock with a queue on the server. */
public final class QueueOperators extends Operators {
    private static final byte[][] NOTHING = {};

    public QueueOperators(Link link) {
        super(link, Script.INSPECT, Keys::renewed);
    }

    @Override
    String keyType() {
        return "hash";
    }

    @Override
    LockInfo info(String name, List<?> reply) {
        List<LockInfo.Entry> holders = new ArrayList<>();
        List<LockInfo.Entry> waiters = new ArrayList<>();
        for (int i = 1; i < reply.size(); i += 7) {
            String claim = text(reply.get(i));
            LockMode mode = text(reply.get(i + 1)).equals("X") ? LockMode.EXCLUSIVE : LockMode.SHARED;
            int permits = Math.toIntExact((Long) reply.get(i + 2));
            long token = (Long) reply.get(i + 3);
            String info = text(reply.get(i + 4));
            if (token > 0) {
                LockInfo.Entry holder = StoredHolder.holder(claim, mode, info, token, (Long) reply.get(i + 5));
                holders.add(HolderText.waitOf(HolderText.read(text(reply.get(i + 6))))
                        .map(holder::withWait)
                        .orElse(holder)
                        .withPermits(permits));
            } else {
                waiters.add(StoredHolder.waiter(claim, mode, info).withPermits(permits));
            }
        }
        LockInfo info = LockInfo.of(name, holders, waiters);
        int limit = Math.toIntExact((Long) reply.get(0));
        return limit > 0 ? info.withLimit(limit) : info;
    }

    /**
     * Stores, beside a claim's hold, the lock that its holder waits for; false if it does not have the lock any more.
     */
    public static boolean recordWait(
            Link link, Keys keys, byte[] claim, Optional<LockInfo.Wait> wait, long deadlineNanos) throws Failure {
        byte[][] args = {claim, bytes(wait.map(HolderText::write).orElse(""))};
        return link.eval(Script.RECORD_WAIT, keys, args, deadlineNanos).equals(1L);
    }

    @Override
    public boolean forceRelease(Keys keys, long deadlineNanos) throws Failure {
        return !link.eval(Script.FORCE, keys, NOTHING, deadlineNanos).equals(0L);
    }

    @Override
    public boolean forceRelease(Keys keys, long token, long deadlineNanos) throws Failure {
        return link.eval(Script.FORCE_ONE, keys, new byte[][] {bytes(token)}, deadlineNanos)
                .equals(1L);
    }
}
