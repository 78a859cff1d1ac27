package dev.lockstep.torture;

import dev.lockstep.servers.SqlServer;
import dev.lockstep.torture.Fault.Injected;
import dev.lockstep.torture.Fault.Length;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A database on a server. */
final class SqlTarget implements Target {
    private final String name;
    private final SqlServer server;
    private final String killConnections;
    private final Machines machine;

    /** Not the server's own user: MariaDB's driver takes passwords from URLs as they are, and that one has an ampersand. */
    private static final String USER = "torture";

    /**
     * Makes a target.
     *
     * @param machine what the server is on
     * @param createUser statements that make {@link #USER}, whose password is its name
     * @param killConnections a query that ends the connections of all others, or gives the statements that do
     */
    SqlTarget(String name, SqlServer server, Machines machine, List<String> createUser, String killConnections) {
        this.name = name;
        this.server = server;
        this.killConnections = killConnections;
        this.machine = machine;
        try (Connection connection = open();
                Statement statement = connection.createStatement()) {
            for (String each : createUser) {
                statement.execute(each);
            }
        } catch (SQLException e) {
            server.close();
            throw new IllegalStateException("cannot prepare " + name, e);
        }
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Duration ttl() {
        return Duration.ofMillis(1_500);
    }

    @Override
    public List<Integer> ports() {
        return List.of(server.port());
    }

    @Override
    public String url(List<Integer> ports) {
        String url = server.jdbcUrl(ports.get(0));
        boolean semicolons = url.contains(";"); // H2's way
        String next = semicolons ? ";" : "&";
        return url + (semicolons || url.contains("?") ? next : "?") + "user=" + USER + next + "password=" + USER + next
                + "lockstep.createSchema=true";
    }

    @Override
    public List<Fault> faults() {
        List<Fault> faults = new ArrayList<>(ServerFaults.of(server));
        faults.addAll(machine.clocksThatCount(ttl()));
        faults.addAll(machine.slowDisks());
        // In any case: H2 gives up and does not end, and MariaDB may end when there is room again.
        faults.addAll(machine.fullDisks(place -> server.restart()));
        faults.add(Fault.of("connections killed", Length.MOMENT, random -> {
            killConnections();
            return Injected.all("server", Fault.Act.NONE);
        }));
        return faults;
    }

    private Connection open() throws SQLException {
        return DriverManager.getConnection(server.jdbcUrl(), SqlServer.USER, SqlServer.PASSWORD);
    }

    private void killConnections() throws SQLException {
        try (Connection connection = open();
                Statement statement = connection.createStatement()) {
            List<String> kills = new ArrayList<>();
            try (ResultSet rows = statement.executeQuery(killConnections)) {
                while (rows.next()) {
                    kills.add(rows.getString(1));
                }
            }
            for (String kill : kills) {
                if (kill.startsWith("KILL")) {
                    run(statement, kill);
                }
            }
        }
    }

    private static void run(Statement statement, String kill) {
        try {
            statement.execute(kill);
        } catch (SQLException e) {
            // It has ended by itself.
        }
    }

    @Override
    public List<String> leftovers() {
        return Leftovers.rows(url(ports()), ttl(), this::open);
    }

    @Override
    public void close() {
        server.close();
        machine.close();
    }
}
