package dev.lockstep.servers;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One PostgreSQL server. It does not wait for the disk unless asked to, which only a crash of the whole machine would
 * show. It never runs as root, even if this JVM does. Thread-safe.
 */
public final class PostgresServer extends SqlServer {
    /** Ends a start that would hang. A start takes a few seconds at most, on a busy machine some more. */
    private static final Duration START_TIMEOUT = Duration.ofSeconds(60);

    private static final int STATUS_LINE = 7;

    private final Program postgres;
    private final Map<String, String> settings;

    private PostgresServer(Program postgres, Map<String, String> settings) {
        super("postgres", "postgresql", "", START_TIMEOUT);
        this.postgres = postgres;
        this.settings = Map.copyOf(settings);
    }

    /**
     * A server to be.
     *
     * @return a builder for a single server
     */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * Starts a standby that follows this server by streaming replication.
     *
     * @return the running standby, read-only until {@link #promote}
     */
    public PostgresServer startStandby() {
        return startStandby(port());
    }

    /**
     * Starts a standby that follows this server through something in between.
     *
     * @param upstreamPort the loopback port of a proxy in front of this server
     * @return the running standby, read-only until {@link #promote}
     */
    public PostgresServer startStandby(int upstreamPort) {
        PostgresServer standby = new PostgresServer(postgres, settings);
        List<String> arguments = new ArrayList<>(List.of("-D", standby.data().toString(), "-h", HOST));
        arguments.addAll(List.of("-p", Integer.toString(upstreamPort), "-U", USER));
        arguments.addAll(List.of("--write-recovery-conf", "--checkpoint=fast", "--no-sync"));
        standby.run("pg_basebackup", Map.of("PGPASSWORD", PASSWORD), arguments);
        return ServerProcess.started(standby);
    }

    /** Makes a standby a primary, and waits until it is. */
    public void promote() {
        run("pg_ctl", Map.of(), List.of("promote", "-w", "-D", data().toString()));
    }

    @Override
    Launch launch() {
        List<String> arguments = new ArrayList<>(List.of("-D", data().toString()));
        setting(arguments, "port", Integer.toString(port()));
        setting(arguments, "listen_addresses", HOST);
        setting(arguments, "unix_socket_directories", "");
        settings.forEach((name, value) -> setting(arguments, name, value));
        return Launch.of(postgres, arguments).asNobody();
    }

    private static void setting(List<String> arguments, String name, String value) {
        arguments.addAll(List.of("-c", name + "=" + value));
    }

    /** Reads the file that the server writes for its own tools; one of an earlier process has another pid. */
    @Override
    boolean isReady() throws IOException {
        List<String> lines = Files.readAllLines(data().resolve("postmaster.pid"));
        return lines.size() > STATUS_LINE
                && lines.get(0).equals(Long.toString(pid()))
                && List.of("ready", "standby").contains(lines.get(STATUS_LINE).strip());
    }

    /** The "fast" shutdown, which does not wait for clients to leave. */
    @Override
    String stopSignal() {
        return "INT";
    }

    private Path data() {
        return directory().resolve("data");
    }

    /** Makes the files of an empty server, with the database to work in. */
    private void initialise() {
        try {
            Path password = write("password", List.of(PASSWORD));
            List<String> arguments = new ArrayList<>(List.of("-D", data().toString(), "-U", USER));
            arguments.addAll(List.of("--auth=scram-sha-256", "--pwfile=" + password));
            arguments.addAll(List.of("-E", "UTF8", "--no-locale", "--no-sync"));
            run("initdb", Map.of(), arguments);
            String verifier = ScramVerifier.of(PASSWORD, USER);
            Path create = write(
                    "create.sql",
                    List.of("ALTER ROLE " + USER + " PASSWORD '" + verifier + "'", "CREATE DATABASE " + DATABASE));
            List<String> single = List.of(
                    "sh",
                    "-c",
                    "exec \"$0\" --single -D \"$1\" postgres <\"$2\"",
                    postgres.path().toString(),
                    data().toString(),
                    create.toString());
            Commands.run(directory(), START_TIMEOUT, new Launch(single, postgres.environment(), true));
        } catch (IOException e) {
            throw new ServerException("cannot set up " + this, e);
        }
    }

    private void run(String program, Map<String, String> more, List<String> arguments) {
        Launch launch = Launch.of(postgres.sibling(program), arguments);
        Map<String, String> environment = new LinkedHashMap<>(launch.environment());
        environment.putAll(more);
        try {
            Commands.run(directory(), START_TIMEOUT, new Launch(launch.command(), environment, true));
        } catch (IOException e) {
            throw new ServerException(program + " for " + this + ": " + e.getMessage(), e);
        }
    }

    /** The settings of a PostgreSQL server. */
    public static final class Builder {
        private final Map<String, String> settings =
                new LinkedHashMap<>(Map.of("fsync", "off", "jit", "off", "max_connections", "200"));

        private @Nullable HostFaults host;
        private Supplier<Program> source = () -> Program.find("postgres", "postgresql");

        private Builder() {}

        /**
         * Takes PostgreSQL 18, from Debian's newest suite.
         *
         * @return this
         */
        public Builder version18() {
            source = () -> Program.newest("postgres", "postgresql-18");
            return this;
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
            return setting("fsync", "on");
        }

        /**
         * Sets any parameter of the configuration file.
         *
         * @param name its name
         * @param value its value
         * @return this
         */
        public Builder setting(String name, String value) {
            settings.put(name, value);
            return this;
        }

        /**
         * Starts it.
         *
         * @return the running server
         * @throws ServerUnavailableException if there is no PostgreSQL here
         * @throws ServerException if it does not start
         */
        public PostgresServer start() {
            PostgresServer server = new PostgresServer(source.get(), settings);
            server.initialise();
            if (host != null) {
                server.runOn(host);
            }
            return ServerProcess.started(server);
        }
    }
}
