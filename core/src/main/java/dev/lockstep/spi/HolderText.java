package dev.lockstep.spi;

import dev.lockstep.HolderInfo;
import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A holder or waiter as text that is stored in an engine: a line for each fact, such as {@code client=orders}. People
 * can read it with the engine's own tools. Lockstep makes no decision from it. Safe for use by many threads.
 */
public final class HolderText {
    private HolderText() {}

    /**
     * Writes a holder.
     *
     * @param holder who it is
     * @return six lines
     */
    public static String write(HolderInfo holder) {
        return line("client", holder.client())
                + line("host", holder.host())
                + line("pid", Long.toString(holder.pid()))
                + line("thread", holder.thread())
                + line("since", holder.since().toString())
                + line("sticky", Boolean.toString(holder.sticky()));
    }

    /**
     * Writes what a holder waits for. The lines can stand alone or follow those of the holder.
     *
     * @param wait what it waits for
     * @return five lines
     */
    public static String write(LockInfo.Wait wait) {
        return line("waits-for", wait.lock())
                + line("waits-mode", wait.mode().name())
                + line("waits-thread", wait.thread())
                + line("waits-since", wait.since().toString())
                + line("waits-bounded", Boolean.toString(wait.isBounded()));
    }

    /**
     * Reads what a holder waits for.
     *
     * @param facts what {@link #read} found
     * @return what it waits for; empty if the facts do not say so
     */
    public static Optional<LockInfo.Wait> waitOf(Map<String, String> facts) {
        String lock = facts.get("waits-for");
        if (lock == null || lock.isEmpty()) {
            return Optional.empty();
        }
        LockMode mode = LockMode.SHARED.name().equals(facts.get("waits-mode")) ? LockMode.SHARED : LockMode.EXCLUSIVE;
        return Optional.of(LockInfo.Wait.of(
                lock,
                mode,
                facts.getOrDefault("waits-thread", ""),
                instant(facts.get("waits-since"), Instant.EPOCH),
                Boolean.parseBoolean(facts.get("waits-bounded"))));
    }

    /**
     * Writes one fact.
     *
     * @param name its name, without an equals sign
     * @param value any text; characters that would end the line become spaces
     * @return the line, with its end
     */
    public static String line(String name, String value) {
        StringBuilder line = new StringBuilder(name.length() + value.length() + 2)
                .append(name)
                .append('=');
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            line.append(Character.isISOControl(c) || c == '\u2028' || c == '\u2029' ? ' ' : c);
        }
        return line.append('\n').toString();
    }

    /**
     * Reads lines, which may be malformed.
     *
     * @param text any text
     * @return the facts by name; lines that are not facts are left out
     */
    public static Map<String, String> read(String text) {
        Map<String, String> facts = new HashMap<>();
        text.lines().forEach(line -> {
            int equals = line.indexOf('=');
            if (equals > 0) {
                facts.put(line.substring(0, equals), line.substring(equals + 1));
            }
        });
        return facts;
    }

    /**
     * Reads a holder.
     *
     * @param facts what {@link #read} found
     * @param unknown used for missing text
     * @param since used for a time that is missing or cannot be read
     * @return the holder
     */
    public static HolderInfo holder(Map<String, String> facts, String unknown, Instant since) {
        return HolderInfo.of(
                        facts.getOrDefault("client", unknown),
                        facts.getOrDefault("host", unknown),
                        number(facts.get("pid")))
                .withThread(facts.getOrDefault("thread", unknown))
                .withSince(instant(facts.get("since"), since))
                .withSticky(Boolean.parseBoolean(facts.get("sticky")));
    }

    private static long number(@Nullable String text) {
        try {
            return text == null ? 0 : Long.parseLong(text);
        } catch (NumberFormatException e) {
            return 0;
        }
    }

    private static Instant instant(@Nullable String text, Instant otherwise) {
        try {
            return text == null ? otherwise : Instant.parse(text);
        } catch (DateTimeException e) {
            return otherwise;
        }
    }
}
