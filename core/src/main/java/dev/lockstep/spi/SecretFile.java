package dev.lockstep.spi;

import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockUnavailableException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.function.Supplier;

/**
 * A password in a file, as platforms mount secrets. A backend asks for it each time it logs in, so that a password can
 * be changed without a restart. Immutable, safe for use by many threads; {@link #toString()} contains the file's name,
 * not the password.
 */
public final class SecretFile implements Supplier<String> {
    private final Path file;

    private SecretFile(Path file) {
        this.file = file;
    }

    /**
     * A file that has a password in UTF-8. A line break at its end does not count.
     *
     * @param path where the file is
     * @return supplies the password that is in the file at the time of the call
     * @throws LockConfigurationException if it cannot be read now
     */
    public static SecretFile of(String path) {
        try {
            SecretFile secret = new SecretFile(Path.of(path));
            secret.read();
            return secret;
        } catch (IOException | InvalidPathException e) {
            throw new LockConfigurationException(null, unreadable(path, e), e);
        }
    }

    /**
     * Reads the file.
     *
     * @return the password
     * @throws LockUnavailableException if it cannot be read now, for example because it is being replaced
     */
    @Override
    public String get() {
        try {
            return read();
        } catch (IOException e) {
            throw new LockUnavailableException(null, unreadable(file.toString(), e), e);
        }
    }

    private String read() throws IOException {
        String text = Files.readString(file);
        return text.endsWith("\n") ? text.substring(0, text.length() - (text.endsWith("\r\n") ? 2 : 1)) : text;
    }

    private static String unreadable(String path, Exception e) {
        return "The password file " + path + " cannot be read (" + e.getClass().getSimpleName()
                + "). Check that it exists, has text in UTF-8 and is readable by this process.";
    }

    @Override
    public String toString() {
        return "password file " + file;
    }
}
