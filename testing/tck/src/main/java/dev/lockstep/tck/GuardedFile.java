package dev.lockstep.tck;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A counter in a file, with the highest token that has written it: what processes share under a lock. */
final class GuardedFile {
    private final Path file;

    GuardedFile(Path file) {
        this.file = file;
    }

    void reset() throws IOException {
        Files.writeString(file, "0 0");
    }

    /** Reads, adds one and writes, as if it were alone; refuses a token that is not above the last. */
    void increment(long token) throws IOException {
        String[] content = Files.readString(file).split(" ");
        long last = Long.parseLong(content[1]);
        if (token <= last) {
            throw new IOException("token " + token + " is not above " + last);
        }
        Files.writeString(file, (Integer.parseInt(content[0]) + 1) + " " + token);
    }

    int count() throws IOException {
        return Integer.parseInt(Files.readString(file).split(" ")[0]);
    }
}
