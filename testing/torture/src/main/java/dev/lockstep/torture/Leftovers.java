package dev.lockstep.torture;

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

/** Looks for what nobody uses any more at an engine, for as long as it may take to go. */
final class Leftovers {
    private Leftovers() {}

    /** Looks once. */
    interface Look {
        List<String> run() throws IOException, SQLException, InterruptedException;
    }

    /** Opens a connection. */
    interface Open {
        Connection run() throws SQLException;
    }

    /** What is still there after a time; the failure if it cannot be seen. */
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

    /** Of a lock that nobody uses Redis remembers its token, and for a time who was given up while unreachable. */
    static List<String> keys(RedisServer server) {
        return server.command("KEYS", "lockstep:*")
                .lines()
                .filter(key -> key.matches(".*\\}:(queue|readers|claims)"))
                .toList();
    }

    static List<String> rows(Open open) throws SQLException {
        try (Connection connection = open.run();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT COUNT(*) FROM lockstep_claims")) {
            rows.next();
            return rows.getInt(1) == 0 ? List.of() : List.of(rows.getInt(1) + " rows in lockstep_claims");
        }
    }
}
