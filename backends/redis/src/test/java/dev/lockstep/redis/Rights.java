package dev.lockstep.redis;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The rights that a user of the server needs, as the manual says: tests give their users these and no others. */
final class Rights {
    private static final Path MANUAL = Path.of("../../docs/engines/redis.md");

    private Rights() {}

    /** The keys, the channels and the commands of the queued lock, for the rules of an ACL. */
    static String ofTheManual() {
        String manual;
        try {
            manual = Files.readString(MANUAL);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Matcher commands = Pattern.compile(
                        "keys `(~\\S+)`, the channels `(&\\S+)` and these commands:\\s+```\\n([^`]+)```")
                .matcher(manual);
        if (!commands.find()) {
            throw new AssertionError(MANUAL + " does not name the rights of a user as it did");
        }
        return commands.group(1) + " resetchannels " + commands.group(2) + " -@all "
                + commands.group(3).strip().replaceAll("\\s+", " ");
    }
}
