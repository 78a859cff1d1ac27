package dev.lockstep.redis.internal;

import dev.lockstep.HolderInfo;
import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
import java.time.Duration;
import java.time.Instant;

/** Who holds or waits, as text at the server and back. */
public final class HolderText {
    private static final char SEPARATOR = '\n';

    private HolderText() {}

    /** Six lines. What people typed has no line breaks, but a thread's name may. */
    public static String encode(HolderInfo holder) {
        return holder.client()
                + SEPARATOR
                + holder.host()
                + SEPARATOR
                + holder.pid()
                + SEPARATOR
                + holder.thread().replace(SEPARATOR, ' ')
                + SEPARATOR
                + holder.since().toEpochMilli()
                + SEPARATOR
                + (holder.sticky() ? "sticky" : "");
    }

    /** Understands what {@link #encode} made; what others put there is shown as it is. */
    static HolderInfo decode(String text) {
        String[] lines = text.split("\n", -1);
        try {
            return new HolderInfo(
                    lines[0],
                    lines[1],
                    Long.parseLong(lines[2]),
                    lines[3],
                    Instant.ofEpochMilli(Long.parseLong(lines[4])),
                    lines[5].equals("sticky"));
        } catch (ArrayIndexOutOfBoundsException | NumberFormatException e) {
            return new HolderInfo(text, "?", 0, "?", Instant.EPOCH, false);
        }
    }

    static LockInfo.Entry waiter(String claim, LockMode mode, String info) {
        return LockInfo.Entry.of(mode, decode(info)).withClaim(ClaimId.claimOf(claim));
    }

    static LockInfo.Entry holder(String claim, LockMode mode, String info, long token, long leftMillis) {
        LockInfo.Entry entry = waiter(claim, mode, info).withRemaining(Duration.ofMillis(leftMillis));
        return token > 0 ? entry.withToken(token) : entry;
    }
}
