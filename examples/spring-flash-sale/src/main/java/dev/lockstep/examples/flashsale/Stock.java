package dev.lockstep.examples.flashsale;

import java.util.Objects;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Repository;

/** How many pieces are left. It refuses a token that is older than one it has seen: that of a holder that lost its lock. */
@Repository
class Stock {
    private final JdbcTemplate jdbc;

    Stock(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
    }

    // tag::flash-sale-stock
    int read(String item, long token) {
        require(jdbc.update("update stock set token = ? where item = ? and token <= ?", token, item, token), item);
        return left(item);
    }

    void write(String item, int left, long token) {
        require(jdbc.update("update stock set amount = ? where item = ? and token = ?", left, item, token), item);
    }
    // end::flash-sale-stock

    int left(String item) {
        return Objects.requireNonNull(
                jdbc.queryForObject("select amount from stock where item = ?", Integer.class, item));
    }

    private static void require(int rows, String item) {
        if (rows == 0) {
            throw new StaleHolderException("There is no '" + item + "', or a later holder of its lock has come.");
        }
    }

    /** The writer has lost its lock; nothing was written. */
    static final class StaleHolderException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        StaleHolderException(String message) {
            super(message);
        }
    }
}
