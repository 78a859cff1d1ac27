package dev.lockstep.redis.internal;

import dev.lockstep.HolderInfo;
import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A holder or waiter as Redis stores it: six lines without names, in a fixed order, because Redis keeps them in memory and
 * sends them with each claim. Other engines use {@link dev.lockstep.spi.HolderText}.
 */
public final class StoredHolder {
    private static final char SEPARATOR = '\n';

    private StoredHolder() {}

    /** Six lines. Text that people typed has no line breaks, but a thread's name may. */
    public static String encode(HolderInfo holder) {
        return ofClient(holder) + ofThread(holder);
    }

    /** The first three lines, which are the same for all holders of a client. */
    private static String ofClient(HolderInfo holder) {
        return holder.client() + SEPARATOR + holder.host() + SEPARATOR + holder.pid() + SEPARATOR;
    }

    private static String ofThread(HolderInfo holder) {
        return holder.thread().replace(SEPARATOR, ' ')
                + SEPARATOR
                + holder.since().toEpochMilli()
                + SEPARATOR
                + (holder.sticky() ? "sticky" : "");
    }

    /** Encodes the holders of one client, and its part of the text only once. Safe for use by many threads. */
    public static final class Encoder {
        private record Known(HolderInfo holder, byte[] ofClient) {}

        private volatile @Nullable Known known;

        /** The same bytes as {@link #encode}. */
        public byte[] encode(HolderInfo holder) {
            Known same = known;
            if (same == null || !isSameClient(same.holder, holder)) {
                same = new Known(holder, Bytes.bytes(ofClient(holder)));
                known = same;
            }
            byte[] ofThread = Bytes.bytes(ofThread(holder));
            byte[] all = Arrays.copyOf(same.ofClient, same.ofClient.length + ofThread.length);
            System.arraycopy(ofThread, 0, all, same.ofClient.length, ofThread.length);
            return all;
        }

        private static boolean isSameClient(HolderInfo one, HolderInfo other) {
            return one.client().equals(other.client()) && one.host().equals(other.host()) && one.pid() == other.pid();
        }
    }

    /** Understands what {@link #encode} made; what others put there is shown as it is. */
    static HolderInfo decode(String text) {
        String[] lines = text.split("\n", -1);
        try {
            return HolderInfo.of(lines[0], lines[1], Long.parseLong(lines[2]))
                    .withThread(lines[3])
                    .withSince(Instant.ofEpochMilli(Long.parseLong(lines[4])))
                    .withSticky(lines[5].equals("sticky"));
        } catch (ArrayIndexOutOfBoundsException | NumberFormatException e) {
            return HolderInfo.of(text, "?", 0).withThread("?");
        }
    }

    static LockInfo.Entry waiter(String claim, LockMode mode, String info) {
        return LockInfo.Entry.of(mode, decode(info)).withClaim(ClaimId.claimOf(claim));
    }

    static LockInfo.Entry holder(String claim, LockMode mode, String info, long token, long leftMillis) {
        LockInfo.Entry entry = waiter(claim, mode, info).withRemaining(Duration.ofMillis(leftMillis));
        // A token is drawn from the server's clock when the lock is granted.
        return token > 0 ? entry.withToken(token).withGranted(Instant.EPOCH.plus(token, ChronoUnit.MICROS)) : entry;
    }
}
