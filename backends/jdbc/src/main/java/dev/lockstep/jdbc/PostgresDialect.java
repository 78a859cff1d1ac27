package dev.lockstep.jdbc;

import dev.lockstep.LockConfigurationException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** PostgreSQL. */
final class PostgresDialect extends Dialect {
    /**
     * A prepared statement that is gone or there already; read-only, disk full; a wrong value of a parameter. Its driver has
     * no numbers.
     */
    private static final ErrorCodes<String> STATES = new ErrorCodes<>(
            Set.of("26000", "42P05"), Set.of("25006", "53100"), Set.of("25006"), Set.of(), Set.of(), Set.of("22023"));

    @Override
    String product() {
        return "PostgreSQL";
    }

    @Override
    String scheme() {
        return "postgresql";
    }

    @Override
    String driver() {
        return "org.postgresql:postgresql";
    }

    @Override
    void requireSupported(Link link) throws SQLException {
        String lookalike = lookalike(link.query("SELECT version()", rows -> rows.next() ? rows.getString(1) : ""));
        if (lookalike != null) {
            throw new LockConfigurationException(
                    null,
                    "The server is " + lookalike
                            + ", which speaks PostgreSQL's protocol, but does not do all that locks"
                            + " need of PostgreSQL (notifications, row versions). Use PostgreSQL itself.");
        }
    }

    /** The database that says of itself in version() that it is another one than PostgreSQL; null if it is PostgreSQL. */
    static @Nullable String lookalike(String version) {
        return version.contains("CockroachDB") ? "CockroachDB" : version.contains("-YB-") ? "YugabyteDB" : null;
    }

    /** Not now(), which is the time at which the transaction began. */
    @Override
    String now() {
        return "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)";
    }

    /** Its driver sends them as they are, each with its own parameters, and waits for the answers once. */
    @Override
    boolean sendsTogether(@Nullable String ownUrl) {
        return true;
    }

    @Override
    ErrorCodes<String> states() {
        return STATES;
    }

    /** Its driver reports without a number that it shares no login method with the server. */
    @Override
    boolean cannotAgree(SQLException failure) {
        return Failure.stateOf(failure).equals("08004") && Failure.codeOf(failure) == 0;
    }

    @Override
    String forgetfulSetting() {
        return "CASE WHEN current_setting('fsync') = 'off' THEN 'fsync = off'"
                + " WHEN current_setting('synchronous_commit') = 'off' THEN 'synchronous_commit = off' END";
    }

    @Override
    String limit() {
        return STANDBY_LIMIT;
    }

    @Override
    Map<String, String> driverSettings(Duration requestTimeout) {
        // In seconds, and for the time until the connection has a finer timeout of its own. The login as a whole is
        // limited
        // too: a silent server is asked twice, with and without TLS.
        String seconds = Long.toString(requestTimeout.toSeconds() + 1);
        return Map.of(
                "connectTimeout",
                seconds,
                "loginTimeout",
                seconds,
                "socketTimeout",
                seconds,
                "ApplicationName",
                "lockstep",
                "tcpKeepAlive",
                "true");
    }
}
