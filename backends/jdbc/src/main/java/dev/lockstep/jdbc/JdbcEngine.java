package dev.lockstep.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockstepException;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.BackendFactory;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Retry;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Locks in a SQL database, by URL or over an existing {@link DataSource} of the application:
 *
 * <pre>{@code
 * LockClient locks = LockClient.builder()
 *         .backend(JdbcEngine.over(dataSource).createSchema(true))
 *         .connect();
 * }</pre>
 *
 * <p>With a URL, each client has a small pool of its own. Over a data source, it borrows a connection for each request
 * and returns it at once, in the state in which it came. It keeps one more for its session, so that an application that
 * uses up all connections does not lose its locks, and on PostgreSQL another to be notified, unless {@link
 * #listen(boolean) switched off}. So a data source should have four connections or more; from a HikariCP pool with
 * fewer, even if the data source wraps it, and on SQLite, none is kept for the session. The size of other pools is not
 * known. It never joins a transaction of its caller.
 *
 * <p>Immutable, and safe for use by many threads. Each method that sets something returns a new instance.
 */
public final class JdbcEngine implements BackendFactory {
    /** One for notifications, one for the session, and two for requests. */
    private static final int FEW_CONNECTIONS = 4;

    private final @Nullable String url;
    private final @Nullable DataSource source;
    private final @Nullable DataSource driver;
    private final Settings settings;

    private JdbcEngine(
            @Nullable String url, @Nullable DataSource source, @Nullable DataSource driver, Settings settings) {
        if (url != null && settings.password() != null && Url.hasPassword(url)) {
            throw new LockConfigurationException(
                    null,
                    "The password is either in the URL, or comes from lockstep.passwordFile or password(Supplier), not both.");
        }
        this.url = url;
        this.source = source;
        this.driver = driver;
        this.settings = settings;
    }

    /**
     * Locks in the database of a URL.
     *
     * @param url a JDBC URL of PostgreSQL, MySQL, MariaDB, H2 or SQLite
     * @return locks there
     * @throws dev.lockstep.LockConfigurationException if the URL is for none of them, or has wrong settings
     */
    public static JdbcEngine at(String url) {
        Dialects.ofUrl(url);
        Url parsed = Url.parse(url, Settings.DEFAULTS);
        return new JdbcEngine(parsed.url(), null, null, parsed.settings());
    }

    /**
     * Locks in the database of a data source. The caller closes the data source, after the client. A call waits for a
     * connection as long as the data source lets it; that should not be longer than the client's request timeout.
     *
     * @param source where connections come from
     * @return locks there
     */
    public static JdbcEngine over(DataSource source) {
        return new JdbcEngine(null, Objects.requireNonNull(source, "source"), null, Settings.DEFAULTS);
    }

    /**
     * The statements that create the tables, for running them by hand.
     *
     * @param database {@code postgresql}, {@code mysql}, {@code mariadb}, {@code h2} or {@code sqlite}
     * @return the statements, with the default table prefix
     * @throws dev.lockstep.LockConfigurationException if the database is none of these
     */
    public static String ddl(String database) {
        return Schema.ddl(Dialects.ofUrl("jdbc:" + database + ":"), Settings.DEFAULTS);
    }

    /**
     * Chooses the prefix of the table names; {@code lockstep_} unless set.
     *
     * @param prefix up to 40 letters, digits and underscores, of which the first is no digit
     * @return the same locks, in other tables
     */
    public JdbcEngine tablePrefix(String prefix) {
        return with(settings.withTablePrefix(prefix));
    }

    /**
     * Chooses the schema (in MySQL and MariaDB: the database) of the tables; the connection's own unless set.
     *
     * @param schema up to 40 letters, digits and underscores, of which the first is no digit
     * @return the same locks, in other tables
     */
    public JdbcEngine schema(String schema) {
        Objects.requireNonNull(schema, "schema");
        return with(settings.withSchema(schema));
    }

    /**
     * Chooses whether missing tables are created; by default they are in H2 and SQLite.
     *
     * @param create whether to create them
     * @return the same locks
     */
    public JdbcEngine createSchema(boolean create) {
        return with(settings.withCreateSchema(create));
    }

    /**
     * Chooses the most connections of a client's own pool; 16 unless set, always 1 on SQLite. Over a data source it
     * bounds the threads that serve asynchronous calls.
     *
     * @param size between 1 and 1,000
     * @return the same locks
     */
    public JdbcEngine poolSize(int size) {
        return with(settings.withPoolSize(size));
    }

    /**
     * Chooses whether a client keeps a connection on which PostgreSQL notifies it. Without it, waiters poll, and sticky
     * locks are refused.
     *
     * @param listen false to poll
     * @return the same locks
     */
    public JdbcEngine listen(boolean listen) {
        return with(settings.withListen(listen));
    }

    /**
     * Chooses the time after which the row of an unused name is removed; two days unless set.
     *
     * @param idle a day at least, so that no change of the server's clock can make tokens fall
     * @return the same locks
     */
    public JdbcEngine idleNames(Duration idle) {
        return with(settings.withIdleNames(idle));
    }

    /**
     * Chooses a password that may change, for the user that the URL names: each new connection of the client's own pool asks for it.
     * As {@code lockstep.passwordFile} in a URL, which names a file. Has no effect over a data source, which logs in itself.
     *
     * @param password supplies the password; it must return at once
     * @return the same locks
     * @throws dev.lockstep.LockConfigurationException if the URL has a password
     */
    public JdbcEngine password(Supplier<String> password) {
        return with(settings.withPassword(Objects.requireNonNull(password, "password")));
    }

    /** For tests: opens the connections of the URL in another way. */
    JdbcEngine driver(DataSource other) {
        return new JdbcEngine(url, source, other, settings);
    }

    private JdbcEngine with(Settings other) {
        return new JdbcEngine(url, source, driver, other);
    }

    @Override
    public LockBackend open(BackendContext context) {
        boolean interrupted = Thread.interrupted(); // with it, pools and drivers would not connect
        try {
            return openInTime(context);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    public String engine() {
        return url == null ? "jdbc" : Dialects.ofUrl(url).scheme();
    }

    @Override
    public String address() {
        String hosts = Url.hosts(url);
        return hosts == null ? "" : hosts;
    }

    /** Connects; tries again within the request timeout if the database is away, for example while it is starting. */
    private LockBackend openInTime(BackendContext context) {
        return Retry.connect(context, () -> openOnce(context), failure -> false);
    }

    private LockBackend openOnce(BackendContext context) {
        return url != null ? openUrl(url, context) : openSource(Objects.requireNonNull(source, "source"), context);
    }

    private LockBackend openUrl(String at, BackendContext context) {
        Dialect dialect = Dialects.ofUrl(at);
        Database database = new Database(dialect, Url.hosts(at), dialect.sendsTogether(at));
        DataSource from =
                driver != null ? driver : OwnPool.source(at, dialect, context.requestTimeout(), settings.password());
        try {
            var pool = OwnPool.open(from, context.clientName(), settings.poolSize(dialect), context.requestTimeout());
            return open(new Connections(pool, pool, keeping(from, dialect), database, context), from, context);
        } catch (SQLException | RuntimeException e) {
            throw failed(e, database, driver != null ? null : new UrlCheck(at, dialect, Drivers.of(at, dialect)));
        }
    }

    private LockBackend openSource(DataSource from, BackendContext context) {
        Database database = null; // not known before there is a connection
        try {
            try (Connection connection = from.getConnection()) {
                DatabaseMetaData metaData = connection.getMetaData();
                Dialect dialect = Dialects.ofProduct(metaData.getDatabaseProductName());
                database = new Database(dialect, Url.hosts(metaData.getURL()), dialect.sendsTogether(null));
            }
            DataSource keeping = keeping(from, database.dialect());
            return open(new Connections(from, () -> {}, keeping, database, context), from, context);
        } catch (SQLException | RuntimeException e) {
            throw failed(e, database, null);
        }
    }

    /**
     * The source of the session's own connection; null if the database uses only one connection, or there are too few.
     */
    private static @Nullable DataSource keeping(DataSource from, Dialect dialect) {
        HikariDataSource pool = hikari(from);
        boolean few = pool != null && pool.getMaximumPoolSize() < FEW_CONNECTIONS;
        return few || dialect.maxConnections() == 1 ? null : from;
    }

    /** The HikariCP pool that a data source is or wraps; null if it says of none. */
    private static @Nullable HikariDataSource hikari(DataSource from) {
        if (from instanceof HikariDataSource pool) {
            return pool;
        }
        try {
            return from.isWrapperFor(HikariDataSource.class) ? from.unwrap(HikariDataSource.class) : null;
        } catch (SQLException | RuntimeException e) {
            return null; // not every data source can say that
        }
    }

    /** The exception for a client that could not connect. */
    private static LockstepException failed(Exception e, @Nullable Database database, @Nullable UrlCheck check) {
        if (e instanceof LockstepException known) {
            return known;
        }
        SQLException failure = Failure.asSqlException(e);
        LockConfigurationException mistake = check == null ? null : check.mistake(failure);
        if (mistake != null) {
            return mistake;
        }
        Dialect dialect = database == null ? null : database.dialect();
        String place = database == null ? "the data source" : database.toString();
        return Failure.ofConnecting(failure, dialect).toException(null, place, "The request to connect", failure);
    }

    private LockBackend open(Connections connections, DataSource listening, BackendContext context)
            throws SQLException {
        Dialect dialect = connections.database().dialect();
        PostgresListener listener = null;
        try {
            Sql sql = new Sql(dialect, settings.tables());
            boolean postgres = dialect instanceof PostgresDialect;
            Store store = new Store(sql, postgres ? new PostgresPush(sql) : Push.NONE);
            connections.call(link -> {
                dialect.requireSupported(link);
                return true;
            });
            Schema.ensure(connections, store, dialect, settings);
            if (postgres && hasPostgresDriver()) {
                listener = settings.listen() ? PostgresListener.open(listening, connections, context) : null;
                if (listener == null) {
                    connections.tune(PostgresListener::unprepared);
                }
            }
            return new JdbcBackend(context, dialect, connections, store, listener, settings);
        } catch (SQLException | RuntimeException e) {
            if (listener != null) {
                listener.close();
            }
            connections.close();
            throw e;
        }
    }

    private static boolean hasPostgresDriver() {
        try {
            Class.forName("org.postgresql.PGConnection", false, JdbcEngine.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    /** Without the URL, which may hold a password. */
    @Override
    public String toString() {
        return "JdbcEngine["
                + (url == null ? "data source" : Dialects.ofUrl(url).product()) + ", " + settings + "]";
    }
}
