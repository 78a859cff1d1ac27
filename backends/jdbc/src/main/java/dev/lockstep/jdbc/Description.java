package dev.lockstep.jdbc;

import dev.lockstep.EngineInfo;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Describes the guarantees of locks on a database with its current settings. */
final class Description {
    private Description() {}

    /**
     * Asks the database.
     *
     * @param ttl how long a session outlives its client
     * @param pushed whether the database wakes waiters
     */
    static EngineInfo of(Link link, Dialect dialect, Duration ttl, boolean pushed) throws SQLException {
        String version = link.version();
        return link.query("SELECT " + dialect.now() + ", " + dialect.forgetfulSetting(), row -> {
            row.next();
            Instant clock = Instant.EPOCH.plus(row.getLong(1), ChronoUnit.MICROS);
            return EngineInfo.of(dialect.product(), version)
                    .withClock(clock)
                    .withGuarantees(guarantees(ttl, pushed))
                    .withLimits(limits(dialect, row.getString(2), pushed));
        });
    }

    private static List<String> guarantees(Duration ttl, boolean pushed) {
        return List.of(
                "One holder at a time, as long as the database keeps what it has committed and its clock does not jump.",
                "A crashed holder's lock is free after " + ttl.toMillis()
                        + " ms, by the database's clock. A holder learns of a loss before that.",
                "Fair locks are first come, first served. "
                        + (pushed ? "Waiters are woken by NOTIFY." : "The first waiter polls every 2 to 100 ms."),
                "Tokens rise, over restarts and removed rows too.");
    }

    private static List<String> limits(Dialect dialect, @Nullable String forgetful, boolean pushed) {
        List<String> limits = new ArrayList<>();
        if (forgetful != null) {
            limits.add("A crash of the server can forget locks, and grant them twice: " + forgetful + ".");
        }
        limits.add(dialect.limit());
        if (!pushed) {
            limits.add("A holder is not notified that others wait, so there are no sticky locks.");
        }
        return limits;
    }
}
