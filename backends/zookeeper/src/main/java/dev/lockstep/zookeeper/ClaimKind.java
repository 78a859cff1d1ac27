package dev.lockstep.zookeeper;

import dev.lockstep.LockMode;
import dev.lockstep.spi.ClaimRequest;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The kind of a claim, as its node's name says: {@code w} and {@code r} for a lock, {@code s5} for a permit of a
 * semaphore that has five, {@code s5x2} for two of them. A {@code t} before it says that the claim does not wait.
 *
 * @param mode how a lock is to be held; shared for a semaphore
 * @param limit how many permits a semaphore has; empty for a lock
 * @param permits how many of them the claim takes; 1 for a lock
 * @param waits whether the claim waits; one that does not is gone soon, unless it was the first
 */
record ClaimKind(LockMode mode, OptionalInt limit, int permits, boolean waits) {
    private static final Pattern TEXT = Pattern.compile("(t?)(?:(w)|(r)|s([1-9][0-9]{0,9})(?:x([1-9][0-9]{0,9}))?)");

    static ClaimKind of(ClaimRequest request) {
        return new ClaimKind(request.mode(), request.limit(), request.permits(), request.mayWait());
    }

    static ClaimKind lock(LockMode mode, boolean waits) {
        return new ClaimKind(mode, OptionalInt.empty(), 1, waits);
    }

    /** Parses a text; null if the text is foreign. */
    static @Nullable ClaimKind parse(String text) {
        Matcher matcher = TEXT.matcher(text);
        if (!matcher.matches()) {
            return null;
        }
        boolean waits = matcher.group(1).isEmpty();
        String limit = matcher.group(4);
        if (limit == null) {
            return lock(matcher.group(2) != null ? LockMode.EXCLUSIVE : LockMode.SHARED, waits);
        }
        String permits = matcher.group(5);
        try {
            return new ClaimKind(
                    LockMode.SHARED,
                    OptionalInt.of(Integer.parseInt(limit)),
                    permits == null ? 1 : Integer.parseInt(permits),
                    waits);
        } catch (NumberFormatException e) {
            return null; // beyond all limits
        }
    }

    String text() {
        String kind = mode == LockMode.EXCLUSIVE ? "w" : "r";
        if (limit.isPresent()) {
            kind = "s" + limit.getAsInt() + (permits == 1 ? "" : "x" + permits);
        }
        return waits ? kind : "t" + kind;
    }

    boolean isSemaphore() {
        return limit.isPresent();
    }

    boolean isWriter() {
        return mode == LockMode.EXCLUSIVE;
    }

    /** Whether both use the name for the same thing: a lock, or a semaphore with that number of permits. */
    boolean agreesWith(ClaimKind other) {
        return limit.equals(other.limit);
    }

    /** Whether two claims of a semaphore can hold at the same time. */
    boolean fitsBeside(ClaimKind other) {
        return isSemaphore() && agreesWith(other) && (long) permits + other.permits <= limit.getAsInt();
    }
}
