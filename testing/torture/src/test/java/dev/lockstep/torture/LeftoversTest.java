package dev.lockstep.torture;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Leftovers in tables: rows that a sweeper removes in time do not count, all others do. */
@Tag("full")
class LeftoversTest {
    private static final Duration TTL = Duration.ofSeconds(1);
    private static final String SESSION =
            "INSERT INTO lockstep_sessions VALUES ('dead:1', 'worker-1', 'host', 1, ?, 0)";
    private static final String HOLD = "INSERT INTO lockstep_locks (name, token, owner, session, readers, tickets)"
            + " VALUES ('torture/a', 1, 'dead.1', 'dead:1', 0, 0)";
    private static final String CLAIM = "INSERT INTO lockstep_claims (claim, name, ticket, shared, held, session)"
            + " VALUES ('dead.2', 'torture/a', 1, 0, 0, 'dead:1')";
    private static final long FOR_EVER = Long.MAX_VALUE / 2;

    @TempDir
    Path folder;

    @BeforeEach
    void makeTables() {
        WorkerMain.connect(url(), "torture", TTL, "maker").close();
    }

    private String url() {
        return "jdbc:sqlite:" + folder.resolve("locks.db");
    }

    private void insert(long expires) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url());
                Statement statement = connection.createStatement()) {
            statement.execute(SESSION.replace("?", Long.toString(expires)));
            statement.execute(HOLD);
            statement.execute(CLAIM);
        }
    }

    private List<String> left() {
        return Leftovers.rows(url(), TTL, () -> DriverManager.getConnection(url()));
    }

    @Test
    void leftoversOfAClosedClientAreCleanedUp() throws Exception {
        insert(0);
        assertThat(left()).isEmpty();
    }

    @Test
    void remainingLeftoversAreReported() throws Exception {
        insert(FOR_EVER);
        assertThat(String.join(", ", left()))
                .contains("lockstep_claims", "lockstep_locks", "lockstep_sessions")
                .doesNotContain("2 rows");
    }
}
