package dev.lockstep.cli;

import java.time.Duration;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads a time on the command line: seconds, with or without a fraction. */
final class Seconds implements ITypeConverter<Duration> {
    private static final double MOST = 1e9;

    @Override
    public Duration convert(String value) {
        double seconds;
        try {
            seconds = Double.parseDouble(value);
        } catch (NumberFormatException e) {
            throw new TypeConversionException("'" + value + "' is not a number of seconds");
        }
        if (!(seconds >= 0 && seconds <= MOST)) {
            throw new TypeConversionException("'" + value + "' is not between 0 and a billion seconds");
        }
        return Duration.ofNanos(Math.round(seconds * 1e9));
    }
}
