package dev.lockstep.jdbc;

import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** PostgreSQL. */
final class PostgresDialect extends Dialect {
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
