package dev.lockstep.annotation;

import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads the durations of {@link Locked}, for frameworks that run it: {@code 500ms}, {@code 30s}, {@code 5m}, {@code 1h},
 * {@code 2d}, a bare number of milliseconds, or ISO 8601. Stateless, so safe for use by many threads.
 */
public final class LockedDurations {
    private static final Pattern SIMPLE = Pattern.compile("(\\d{1,18})\\s*(ms|s|m|h|d)?");

    private LockedDurations() {}

    /**
     * Reads a duration.
     *
     * @param text the duration, with spaces around it or not
     * @return what it means
     * @throws IllegalArgumentException if it is not a duration; the message quotes the text
     */
    public static Duration parse(String text) {
        Matcher simple = SIMPLE.matcher(text.strip().toLowerCase(Locale.ROOT));
        try {
            if (!simple.matches()) {
                return Duration.parse(text.strip());
            }
            long amount = Long.parseLong(simple.group(1));
            return switch (simple.group(2) == null ? "ms" : simple.group(2)) {
                case "s" -> Duration.ofSeconds(amount);
                case "m" -> Duration.ofMinutes(amount);
                case "h" -> Duration.ofHours(amount);
                case "d" -> Duration.ofDays(amount);
                default -> Duration.ofMillis(amount);
            };
        } catch (DateTimeParseException | ArithmeticException e) {
            throw new IllegalArgumentException(
                    "'" + text + "' is not a duration; write something like 500ms, 30s, 5m, 1h or PT30S", e);
        }
    }
}
