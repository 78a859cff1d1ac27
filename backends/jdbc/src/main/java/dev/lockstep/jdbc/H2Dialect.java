package dev.lockstep.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.Set;

/** H2, inside the process or as a server. */
final class H2Dialect extends Dialect {
    private static final ErrorCodes<Integer> CODES = new ErrorCodes<>(
            Set.of(50200, 40001, 90131),
            Set.of(90097),
            Set.of(90097),
            Set.of(),
            Set.of(28000, 90013, 90046, 90049, 90096, 90117, 90146, 90149),
            Set.of(90011, 90050, 90088, 90113));

    @Override
    String product() {
        return "H2";
    }

    @Override
    String scheme() {
        return "h2";
    }

    @Override
    String driver() {
        return "com.h2database:h2";
    }

    @Override
    String now() {
        return "CAST(EXTRACT(EPOCH FROM CURRENT_TIMESTAMP(6)) * 1000000 AS BIGINT)";
    }

    @Override
    String drawing(String update) {
        return "SELECT token, head FROM FINAL TABLE (" + update + ")";
    }

    @Override
    String drawingInsert(String insert) {
        return drawing(insert);
    }

    /** H2 has no isolation level for a single transaction; {@link Link} has set the connection's. */
    @Override
    void readCommitted(Connection connection) throws SQLException {
        if (connection.getTransactionIsolation() != Connection.TRANSACTION_READ_COMMITTED) {
            connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        }
    }

    /** An interrupt closes the files of an embedded database, and a connection to a server has no timeout. */
    @Override
    boolean runsInCallerThread() {
        return false;
    }

    @Override
    boolean createsSchema() {
        return true;
    }

    @Override
    ErrorCodes<Integer> codes() {
        return CODES;
    }

    @Override
    String limit() {
        return "A database in memory ends with its process, and locks and tokens with it.";
    }

    @Override
    Map<String, String> driverSettings(Duration requestTimeout) {
        return Map.of("LOCK_TIMEOUT", millis(requestTimeout));
    }
}
