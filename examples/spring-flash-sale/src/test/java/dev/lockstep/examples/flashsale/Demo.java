package dev.lockstep.examples.flashsale;

import dev.lockstep.servers.FreePorts;
import dev.lockstep.servers.PostgresServer;
import dev.lockstep.servers.SqlServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;

/** Starts a PostgreSQL and two instances, to look at them in a browser, or to let buyers in and kill one of the two. */
public final class Demo {
    private static final int STOCK = 200;
    static final int BUYERS = 500;

    private Demo() {}

    /**
     * How a sale ended.
     *
     * @param stock how many there were
     * @param left how many are left
     * @param orders the orders in the database
     * @param tokensRise whether each order has a higher token than the one before
     * @param informed the orders of the buyers whose answer was that they have bought
     * @param turnedAway how many got the answer that nothing is left
     * @param repeated how often an order was sent again
     */
    record Result(
            int stock,
            int left,
            Set<UUID> orders,
            boolean tokensRise,
            Set<UUID> informed,
            int turnedAway,
            int repeated) {
        boolean isRight() {
            return left == 0 && orders.size() == stock && orders.equals(informed) && tokensRise;
        }
    }

    /**
     * Starts the demo.
     *
     * @param args {@code load} for the load test; properties of the service, such as {@code --lockstep.url=…}
     * @throws Exception if something cannot be started
     */
    public static void main(String[] args) throws Exception {
        List<String> properties = new ArrayList<>(List.of(args));
        boolean load = properties.remove("load");
        try (PostgresServer database = PostgresServer.builder().start()) {
            if (load) {
                Result result = sell(database, properties);
                System.out.printf(
                        "One of two instances was killed. Stock %d, orders %d, buyers informed %d, turned away %d,"
                                + " orders sent again %d: %s%n",
                        result.stock(),
                        result.orders().size(),
                        result.informed().size(),
                        result.turnedAway(),
                        result.repeated(),
                        result.isRight() ? "right" : "WRONG");
                System.exit(result.isRight() ? 0 : 1);
            }
            try (Instances instances = new Instances(List.of(8081, 8082), withDatabase(database, properties))) {
                System.out.println("Open " + String.join(" or ", instances.urls()) + "; press Enter to stop.");
                while (System.in.read() >= ' ') {
                    // Until Enter, or the end of the input.
                }
            }
        }
    }

    /** Sells to a crowd, and kills the first instance when a quarter is sold. */
    static Result sell(PostgresServer database, List<String> properties) throws Exception {
        List<String> all = withDatabase(database, properties);
        all.add("--flashsale.stock=" + STOCK);
        List<Integer> ports = List.of(FreePorts.next(), FreePorts.next());
        try (Instances instances = new Instances(ports, all);
                Connection connection =
                        DriverManager.getConnection(database.jdbcUrl(), SqlServer.USER, SqlServer.PASSWORD)) {
            Buyers buyers = new Buyers(instances.urls());
            Thread killer = new Thread(() -> {
                while (buyers.sold().size() < STOCK / 4) {
                    Thread.onSpinWait();
                }
                instances.kill(0);
            });
            killer.start();
            buyers.run(BUYERS, 16);
            killer.join();
            return result(connection, buyers);
        }
    }

    private static Result result(Connection connection, Buyers buyers) throws SQLException {
        Set<UUID> orders = new TreeSet<>();
        boolean rise = true;
        try (ResultSet rows =
                connection.createStatement().executeQuery("select id, token from orders order by number")) {
            long last = 0;
            while (rows.next()) {
                orders.add(rows.getObject(1, UUID.class));
                rise &= rows.getLong(2) > last;
                last = rows.getLong(2);
            }
        }
        try (ResultSet rows = connection.createStatement().executeQuery("select amount from stock")) {
            rows.next();
            return new Result(
                    STOCK,
                    rows.getInt(1),
                    orders,
                    rise,
                    new TreeSet<>(buyers.sold()),
                    buyers.turnedAway(),
                    buyers.repeated());
        }
    }

    static List<String> withDatabase(PostgresServer database, List<String> properties) {
        List<String> all = new ArrayList<>(List.of(
                "--spring.datasource.url=" + database.jdbcUrl(),
                "--spring.datasource.username=" + SqlServer.USER,
                "--spring.datasource.password=" + SqlServer.PASSWORD));
        all.addAll(properties);
        return all;
    }
}
