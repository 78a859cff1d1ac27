package dev.lockstep.servers;

import java.io.IOException;
import java.net.Socket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** A connection pooler in front of a PostgreSQL server, for the same user and database. Thread-safe. */
public final class PgBouncer extends ServerProcess {
    /** Ends a start that would hang. A start takes a few seconds at most, on a busy machine some more. */
    private static final Duration START_TIMEOUT = Duration.ofSeconds(30);

    /** How soon a probe is given up and repeated. The start fails only when {@code START_TIMEOUT} is over. */
    private static final int PROBE_MILLIS = 500;

    private final Program program = Program.find("pgbouncer", "pgbouncer");
    private final Path configuration;

    private PgBouncer(int upstreamPort, String poolMode) {
        super("pgbouncer", FreePorts.next(), START_TIMEOUT);
        Path users = write("users.txt", List.of('"' + SqlServer.USER + "\" \"" + SqlServer.PASSWORD + '"'));
        configuration = write(
                "pgbouncer.ini",
                List.of(
                        "[databases]",
                        "* = host=" + HOST + " port=" + upstreamPort,
                        "[pgbouncer]",
                        "listen_addr = " + HOST,
                        "listen_port = " + port(),
                        "unix_socket_dir =",
                        "auth_type = scram-sha-256",
                        "auth_file = " + users,
                        "pool_mode = " + poolMode,
                        "default_pool_size = 5",
                        "ignore_startup_parameters = extra_float_digits"));
    }

    /**
     * Starts a pooler in transaction mode: every transaction may run on another of its few connections.
     *
     * @param server the server behind it; clients use {@link SqlServer#jdbcUrl(int)} with this pooler's port
     * @return the running pooler
     * @throws ServerUnavailableException if there is no PgBouncer here
     * @throws ServerException if it does not start
     */
    public static PgBouncer inFrontOf(PostgresServer server) {
        return ServerProcess.started(new PgBouncer(server.port(), "transaction"));
    }

    @Override
    Launch launch() {
        return Launch.of(program, configuration.toString()).asNobody();
    }

    @Override
    boolean isReady() throws IOException {
        try (Socket socket = new Socket()) {
            socket.connect(FreePorts.address(port()), PROBE_MILLIS);
            return true;
        }
    }
}
