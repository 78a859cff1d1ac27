package dev.lockstep.torture;

import dev.lockstep.temp.TempDirs;
import dev.lockstep.torture.Fault.Injected;
import dev.lockstep.torture.Fault.Length;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;

/** A file of SQLite. */
final class SqliteTarget implements Target {
    private final Path folder = TempDirs.create("sqlite");

    @Override
    public String name() {
        return "sqlite";
    }

    @Override
    public Duration ttl() {
        return Duration.ofMillis(1_500);
    }

    @Override
    public List<Integer> ports() {
        return List.of();
    }

    @Override
    public String url(List<Integer> ports) {
        return "jdbc:sqlite:" + folder.resolve("locks.db");
    }

    @Override
    public List<Fault> faults() {
        return List.of(Fault.of("file locked", Length.ANY, random -> {
            Connection connection = DriverManager.getConnection(url(List.of()));
            try (Statement statement = connection.createStatement()) {
                statement.execute("PRAGMA busy_timeout = 5000");
                statement.execute("BEGIN IMMEDIATE");
            } catch (SQLException e) {
                connection.close();
                throw e;
            }
            return Injected.all("file", connection::close);
        }));
    }

    @Override
    public List<String> leftovers() {
        return Leftovers.rows(url(List.of()), ttl(), () -> DriverManager.getConnection(url(List.of())));
    }

    @Override
    public void close() {
        try {
            TempDirs.delete(folder);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
