package dev.lockstep.redis.internal;

import static dev.lockstep.redis.internal.Bytes.bytes;
import static dev.lockstep.redis.internal.Bytes.text;

import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
import dev.lockstep.spi.HolderLines;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Operators of the lock with a queue at the server. */
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
                LockInfo.Entry holder = HolderText.holder(claim, mode, info, token, (Long) reply.get(i + 5));
                holders.add(HolderLines.waitOf(HolderLines.read(text(reply.get(i + 6))))
                        .map(holder::withWait)
                        .orElse(holder)
                        .withPermits(permits));
            } else {
                waiters.add(HolderText.waiter(claim, mode, info).withPermits(permits));
            }
        }
        LockInfo info = LockInfo.of(name, holders, waiters);
        int limit = Math.toIntExact((Long) reply.get(0));
        return limit > 0 ? info.withLimit(limit) : info;
    }

    /** Stores beside a claim's hold for which lock its holder waits; false if it has the lock no more. */
    public static boolean recordWait(
            Link link, Keys keys, byte[] claim, Optional<LockInfo.Wait> wait, long deadlineNanos) throws Failure {
        byte[][] args = {claim, bytes(wait.map(HolderLines::write).orElse(""))};
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
