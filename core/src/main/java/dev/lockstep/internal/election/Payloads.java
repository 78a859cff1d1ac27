package dev.lockstep.internal.election;

import dev.lockstep.Leader;
import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * How a candidate's payload is stored: in the place where the holder info of a claim names a thread. Every engine keeps that
 * with the claim already, and shows it by {@code inspect}; SQL keeps 127 characters of it.
 */
public final class Payloads {
    private static final String MARK = "election";
    private static final int MAX_BYTES = 100;

    private Payloads() {}

    /** Checks a payload. */
    public static String require(String payload) {
        int bytes = payload.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > MAX_BYTES) {
            throw new IllegalArgumentException(
                    "The payload has " + bytes + " bytes in UTF-8; at most " + MAX_BYTES + " are allowed.");
        }
        payload.codePoints().forEach(c -> {
            int type = Character.getType(c);
            if (Character.isISOControl(c)
                    || type == Character.LINE_SEPARATOR
                    || type == Character.PARAGRAPH_SEPARATOR
                    || type == Character.SURROGATE) {
                throw new IllegalArgumentException(
                        "The payload has a control character, a line break or an unpaired surrogate: U+"
                                + String.format("%04X", c) + ".");
            }
        });
        return payload;
    }

    /** The text that is stored in place of a thread's name. */
    public static String toThreadName(String payload) {
        return payload.isEmpty() ? MARK : MARK + " " + payload;
    }

    /**
     * The leader, if there is one.
     *
     * @param info of the election's lock, with tokens as leases have them: a term has the first token of its grant
     */
    public static Optional<Leader> leader(LockInfo info) {
        return info.holders().stream()
                .filter(entry -> entry.mode() == LockMode.EXCLUSIVE
                        && isCandidate(entry.holder().thread()))
                .filter(entry -> entry.token().isPresent())
                .findFirst()
                .map(entry -> Leader.of(
                        ofThreadName(entry.holder().thread()), entry.token().getAsLong() + 1, entry.holder()));
    }

    private static boolean isCandidate(String thread) {
        return thread.equals(MARK) || thread.startsWith(MARK + " ");
    }

    private static String ofThreadName(String thread) {
        return thread.equals(MARK) ? "" : thread.substring(MARK.length() + 1);
    }
}
