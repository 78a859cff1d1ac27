package dev.lockstep.internal.events;

import java.time.Duration;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import jdk.jfr.SettingControl;
import org.jspecify.annotations.Nullable;

/** A setting of a flight recording: how long something must have taken, such as {@code 20 ms}. Safe for use by many threads. */
public final class FlightThreshold extends SettingControl {
    private static final Pattern FORM = Pattern.compile("\\s*(\\d{1,12})\\s*(ns|us|ms|s|m|h|d)\\s*");

    private volatile String value = "20 ms";
    private volatile Duration least = Duration.ofMillis(20);

    /** Made by the flight recorder. */
    public FlightThreshold() {}

    boolean isReached(Duration took) {
        return took.compareTo(least) >= 0;
    }

    /** The least of what several recordings want. */
    @Override
    public String combine(Set<String> wanted) {
        String chosen = null;
        for (String each : wanted) {
            Duration parsed = parse(each);
            if (parsed != null && (chosen == null || parsed.compareTo(orDefault(chosen)) < 0)) {
                chosen = each;
            }
        }
        return chosen == null ? "20 ms" : chosen;
    }

    @Override
    public void setValue(String wanted) {
        value = wanted;
        least = orDefault(wanted);
    }

    @Override
    public String getValue() {
        return value;
    }

    private static Duration orDefault(String text) {
        Duration parsed = parse(text);
        return parsed == null ? Duration.ofMillis(20) : parsed;
    }

    private static @Nullable Duration parse(String text) {
        Matcher matcher = FORM.matcher(text);
        if (!matcher.matches()) {
            return null;
        }
        long number = Long.parseLong(matcher.group(1));
        return switch (matcher.group(2)) {
            case "ns" -> Duration.ofNanos(number);
            case "us" -> Duration.ofNanos(number * 1_000);
            case "ms" -> Duration.ofMillis(number);
            case "s" -> Duration.ofSeconds(number);
            case "m" -> Duration.ofMinutes(number);
            case "h" -> Duration.ofHours(number);
            default -> Duration.ofDays(number);
        };
    }
}
