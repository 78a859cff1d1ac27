package dev.lockstep.cli;

import java.time.Duration;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads a time on the command line: seconds, with or without a fraction; or with the unit s, m or h. */
final class Seconds implements ITypeConverter<Duration> {
    private static final double MOST = 1e9;
    private static final String UNITS = "smh";
    private static final int[] SECONDS = {1, 60, 3_600};

    @Override
    public Duration convert(String value) {
        double seconds;
        try {
            int last = value.length() - 1;
            int unit = last < 0 ? -1 : UNITS.indexOf(value.charAt(last));
            seconds =
                    unit < 0 ? Double.parseDouble(value) : Double.parseDouble(value.substring(0, last)) * SECONDS[unit];
        } catch (NumberFormatException e) {
            throw new TypeConversionException("'" + value + "' is not a number of seconds");
        }
        if (!(seconds >= 0 && seconds <= MOST)) {
            throw new TypeConversionException("'" + value + "' is not between 0 and a billion seconds");
        }
        return Duration.ofNanos(Math.round(seconds * 1e9));
    }
}
