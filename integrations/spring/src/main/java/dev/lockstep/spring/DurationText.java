package dev.lockstep.spring;

import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Durations as people write them: {@code 500ms}, {@code 30s}, {@code 5m}, {@code 1h}, {@code 2d}, or ISO 8601. */
final class DurationText {
    private static final Pattern SIMPLE = Pattern.compile("(\\d{1,18})\\s*(ms|s|m|h|d)?");

    private DurationText() {}

    static Duration parse(String text) {
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
