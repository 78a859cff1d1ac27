package dev.lockstep.servers;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/** Captures the log, on the standard error, from now on until it is closed. For one test at a time. */
public final class Logged implements AutoCloseable {
    private final PrintStream usual = System.err;
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    /** Begins to listen. */
    public Logged() {
        System.setErr(new PrintStream(bytes, true, StandardCharsets.UTF_8));
    }

    /**
     * All that was written.
     *
     * @return the text
     */
    public String text() {
        return bytes.toString(StandardCharsets.UTF_8);
    }

    /**
     * Whether a line of it has all of some words.
     *
     * @param words the words
     * @return true if there is such a line
     */
    public boolean tells(String... words) {
        return text().lines().anyMatch(line -> {
            for (String word : words) {
                if (!line.contains(word)) {
                    return false;
                }
            }
            return true;
        });
    }

    @Override
    public void close() {
        System.setErr(usual);
        usual.print(text());
    }
}
