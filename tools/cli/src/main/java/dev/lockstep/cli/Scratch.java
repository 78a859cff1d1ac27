package dev.lockstep.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** A folder for the life of a command: it is deleted when it is closed, and when the JVM ends. */
record Scratch(Path path) implements AutoCloseable {
    static Scratch folder(String name) throws IOException {
        return folder(Path.of(System.getProperty("java.io.tmpdir")), name);
    }

    static Scratch folder(Path parent, String name) throws IOException {
        Scratch scratch = new Scratch(Files.createTempDirectory(parent, name));
        Runtime.getRuntime().addShutdownHook(new Thread(scratch::close, name + "-delete"));
        return scratch;
    }

    @Override
    public void close() {
        try (Stream<Path> files = Files.walk(path)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        } catch (IOException | UncheckedIOException e) {
            // A process may write there yet; the system empties its folder for such files.
        }
    }
}
