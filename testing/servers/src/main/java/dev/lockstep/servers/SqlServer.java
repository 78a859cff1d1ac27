package dev.lockstep.servers;

import java.time.Duration;

/** A database server with one user that may do everything. Thread-safe. */
public abstract class SqlServer extends ServerProcess {
    /** The user's name. */
    public static final String USER = "lockstep";

    /** The user's password. */
    public static final String PASSWORD = "lock&step";

    /** The database's name. */
    static final String DATABASE = "lockstep";

    private final String scheme;
    private final String parameters;

    SqlServer(String name, String scheme, String parameters, Duration startTimeout) {
        super(name, FreePorts.next(), startTimeout);
        this.scheme = scheme;
        this.parameters = parameters;
    }

    /**
     * Where the database is, without user and password, and without TLS, so that a proxy can read along.
     *
     * @return a JDBC URL
     */
    public final String jdbcUrl() {
        return jdbcUrl(port());
    }

    /**
     * Where the database is for clients that go through something in between.
     *
     * @param port the loopback port of a proxy or pooler in front of the server
     * @return a JDBC URL
     */
    public final String jdbcUrl(int port) {
        return "jdbc:" + scheme + "://" + HOST + ":" + port + "/" + DATABASE + parameters;
    }
}
