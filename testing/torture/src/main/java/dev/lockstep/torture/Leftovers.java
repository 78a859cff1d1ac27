package dev.lockstep.torture;

import dev.lockstep.LockClient;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.ServerException;
import java.io.IOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Looks for unused data on an engine, for as long as it may take to go. */
final class Leftovers {
    private static final String SWEEPER = "sweeper";
    private static final List<String> ROWS = List.of(
            "lockstep_claims",
            "lockstep_locks WHERE owner IS NOT NULL OR readers <> 0 OR head IS NOT NULL",
            "lockstep_sessions WHERE client <> '" + SWEEPER + "'");

    private Leftovers() {}

    /** Looks once. */
    interface Look {
        List<String> run() throws IOException, SQLException, InterruptedException;
    }

    /** Opens a connection. */
    interface Open {
        Connection run() throws SQLException;
    }

    /** The records that are still there after a time; the failure if it cannot be seen. */
    static List<String> after(Duration patience, Look look) {
        List<String> left = new ArrayList<>();
        Parking.until(
                () -> {
                    left.clear();
                    try {
                        left.addAll(look.run());
                    } catch (IOException | SQLException | ServerException e) {
                        left.add(e.toString());
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                    return left.isEmpty();
                },
                patience);
        return left;
    }

    /** For an unused lock, Redis keeps its token, and for a time the claims that were given up while unreachable. */
    static List<String> keys(RedisServer server) {
        return server.command("KEYS", "lockstep:*")
                .lines()
                .filter(key -> key.matches(".*\\}:(queue|readers|claims)"))
                .toList();
    }

    /**
     * Rows of sessions, holds and claims that are still there after a time in which one client was there to sweep up after
     * those that could not do it themselves.
     */
    static List<String> rows(String url, Duration ttl, Open open) {
        try (LockClient sweeper = Worker.patiently(() -> WorkerMain.connect(url, SWEEPER, ttl, SWEEPER))) {
            return after(
                    ttl.multipliedBy(8),
                    () -> rows(open)); // their time may be two ttls ahead, and the last sweep's too
        }
    }

    private static List<String> rows(Open open) throws SQLException {
        List<String> left = new ArrayList<>();
        try (Connection connection = open.run();
                Statement statement = connection.createStatement()) {
            for (String from : ROWS) {
                try (ResultSet rows = statement.executeQuery("SELECT COUNT(*) FROM " + from)) {
                    rows.next();
                    if (rows.getInt(1) > 0) {
                        left.add(rows.getInt(1) + " rows in " + from);
                    }
                }
            }
        }
        return left;
    }
}
