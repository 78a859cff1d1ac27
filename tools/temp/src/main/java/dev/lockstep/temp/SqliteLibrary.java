package dev.lockstep.temp;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.SQLException;

/**
 * SQLite's native library, which its driver unpacks into the temporary folder (1 MB) and deletes when the JVM ends. A
 * process that is killed would leave it there. So it is unpacked into a folder of its own, which is deleted as soon as the
 * library is loaded: a loaded library does not need its file. Thread-safe.
 */
public final class SqliteLibrary {
    private static final String FOLDER = "org.sqlite.tmpdir";

    private static boolean loaded;

    private SqliteLibrary() {}

    /**
     * Loads it if a URL is SQLite's. To be called before the first connection.
     *
     * @param url the URL of an engine or a database
     */
    public static void loadFor(String url) {
        if (url.startsWith("jdbc:sqlite:")) {
            load();
        }
    }

    private static synchronized void load() {
        if (loaded) {
            return;
        }
        String chosen = System.getProperty(FOLDER);
        Path parent = Path.of(chosen == null ? System.getProperty("java.io.tmpdir") : chosen);
        try {
            Path folder = Files.createTempDirectory(parent, "lockstep-sqlite");
            System.setProperty(FOLDER, folder.toString());
            try {
                DriverManager.getConnection("jdbc:sqlite::memory:").close();
                loaded = true;
            } finally {
                TempDirs.delete(folder);
            }
        } catch (IOException | SQLException e) {
            // The connection that is wanted next says what is wrong.
        } finally {
            if (chosen == null) {
                System.clearProperty(FOLDER);
            } else {
                System.setProperty(FOLDER, chosen);
            }
        }
    }
}
