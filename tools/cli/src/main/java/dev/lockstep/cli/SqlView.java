package dev.lockstep.cli;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The rows of the three tables. */
final class SqlView implements EngineView {
    private static final Pattern PREFIX = Pattern.compile("lockstep\\.tablePrefix=([^&;]*)");

    private final Connection connection;
    private final String tables;
    private final String namespace;
    private final Labels labels;

    SqlView(String url, String namespace, Labels labels) throws SQLException {
        Matcher prefix = PREFIX.matcher(url);
        this.tables = prefix.find() ? prefix.group(1) : "lockstep_";
        this.connection = DriverManager.getConnection(withoutOwnOptions(url));
        this.namespace = namespace;
        this.labels = labels;
    }

    /** The driver's part of a URL. */
    static String withoutOwnOptions(String url) {
        return url.replaceAll("([?&;])lockstep\\.[^&;]*", "$1")
                .replaceAll("([?&;])[&;]+", "$1")
                .replaceAll("[?&;]+$", "");
    }

    @Override
    public List<String> look() throws SQLException {
        String mine = "name LIKE '" + namespace + "/%'";
        List<String> lines = new ArrayList<>();
        show("sessions", "client LIKE '" + namespace + "-_' ORDER BY client", lines);
        show("locks", mine, lines);
        show("claims", mine + " ORDER BY ticket, since", lines);
        return lines;
    }

    private void show(String table, String condition, List<String> lines) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT * FROM " + tables + table + " WHERE " + condition)) {
            ResultSetMetaData columns = rows.getMetaData();
            List<String> names = new ArrayList<>();
            for (int i = 1; i <= columns.getColumnCount(); i++) {
                names.add(columns.getColumnLabel(i).toLowerCase(Locale.ROOT));
            }
            TextTable text = new TextTable(names.toArray(String[]::new));
            while (rows.next()) {
                List<Object> values = new ArrayList<>();
                for (int i = 0; i < names.size(); i++) {
                    values.add(value(names.get(i), rows.getString(i + 1)));
                }
                text.add(values.toArray());
            }
            lines.add(tables + table);
            text.lines().forEach(line -> lines.add("  " + line));
        }
    }

    private String value(String column, @Nullable String value) {
        return switch (column) {
            case "host", "pid" -> "<" + column + ">";
            case "since", "expires" -> value == null ? "-" : Labels.TIME;
            default -> value == null ? "-" : labels.text(value);
        };
    }

    /** Removes the lock's row, which would stay for days. */
    @Override
    public void close() throws SQLException {
        try (connection;
                Statement statement = connection.createStatement()) {
            statement.execute("DELETE FROM " + tables + "locks WHERE name LIKE '" + namespace + "/%'");
        }
    }
}
