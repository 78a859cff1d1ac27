package dev.lockstep.benchmarks;

import dev.lockstep.servers.SqlServer;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The counters of a database.
 *
 * @param url where it is, without the user
 * @param user who asks
 * @param password the user's
 * @param count asks how many requests it has had; null if it does not know
 * @param settingsQuery asks for names and values of its settings
 */
record SqlProbe(
        String url, String user, String password, @Nullable String count, String settingsQuery) {
    /** A user that every driver takes from a URL: MariaDB's does not decode passwords there. */
    static void makeUser(SqlServer server, String user) {
        try (Connection connection = DriverManager.getConnection(server.jdbcUrl(), SqlServer.USER, SqlServer.PASSWORD);
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE USER " + user + " IDENTIFIED BY '" + user + "'");
            statement.execute("GRANT ALL ON *.* TO " + user);
        } catch (SQLException e) {
            throw new IllegalStateException("The server makes no user", e);
        }
    }

    /** The URL on which clients connect, with user and password. */
    String withUser(String plain) {
        if (plain.startsWith("jdbc:h2:")) {
            return plain + ";USER=" + user + ";PASSWORD=" + password;
        }
        return plain + (plain.contains("?") ? '&' : '?') + "user=" + user + "&password="
                + URLEncoder.encode(password, StandardCharsets.UTF_8);
    }

    double requests() {
        return count == null
                ? Double.NaN
                : Double.parseDouble(ask(count, false).values().iterator().next());
    }

    Map<String, String> settings() {
        return ask(settingsQuery, true);
    }

    private Map<String, String> ask(String query, boolean named) {
        Map<String, String> answers = new TreeMap<>();
        try (Connection connection = DriverManager.getConnection(withUser(url));
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(query)) {
            while (rows.next()) {
                answers.put(named ? rows.getString(1) : "", rows.getString(named ? 2 : 1));
            }
        } catch (SQLException e) {
            throw new IllegalStateException("The server does not answer: " + query, e);
        }
        return answers;
    }
}
