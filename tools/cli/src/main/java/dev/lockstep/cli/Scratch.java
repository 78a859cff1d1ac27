package dev.lockstep.cli;

import dev.lockstep.temp.TempDirs;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;

/** A folder for the life of a command: deleted when it is closed, when the JVM ends, or by the next if that is killed. */
record Scratch(Path path) implements AutoCloseable {
    static Scratch folder(String name) throws IOException {
        try {
            return new Scratch(TempDirs.create(name));
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    @Override
    public void close() {
        try {
            TempDirs.delete(path);
        } catch (IOException e) {
            // A process may write there yet; the end of this JVM tries again.
        }
    }
}
