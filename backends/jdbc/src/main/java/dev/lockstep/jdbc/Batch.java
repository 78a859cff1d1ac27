package dev.lockstep.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Statements that are sent together where the driver can do that, and one after the other elsewhere. Used by one
 * thread.
 */
final class Batch {
    private final List<Call<?>> calls = new ArrayList<>();

    /**
     * A statement, and its answer once it was sent.
     *
     * @param <T> the answer
     */
    static final class Call<T> {
        final String sql;
        final @Nullable Object[] arguments;

        /** Reads its rows; null if it draws, or has none and its answer is whether it changed any. */
        final Link.@Nullable Reader<T> reader;

        /** Whether its rows are the result of {@link Dialect#drawing}. */
        final boolean draws;

        private @Nullable T answer;

        private Call(String sql, Link.@Nullable Reader<T> reader, boolean draws, @Nullable Object[] arguments) {
            this.sql = sql;
            this.reader = reader;
            this.draws = draws;
            this.arguments = arguments;
        }

        void read(ResultSet rows) throws SQLException {
            if (draws) {
                answered(Dialect.readDrawn(rows));
            } else if (reader != null) {
                answer = reader.read(rows);
            }
        }

        @SuppressWarnings("unchecked") // without a reader, the answer is whether a row was changed
        void answered(@Nullable Object any) {
            answer = (T) any;
        }

        T answer() throws SQLException {
            return orGone(answer);
        }

        /** The answer of a statement that may have found nothing to change. */
        @Nullable
        T answerIfAny() {
            return answer;
        }
    }

    List<Call<?>> calls() {
        return calls;
    }

    Call<Boolean> update(String sql, @Nullable Object... arguments) {
        return add(new Call<>(sql, null, false, arguments));
    }

    <T> Call<T> query(String sql, Link.Reader<T> reader, @Nullable Object... arguments) {
        return add(new Call<>(sql, reader, false, arguments));
    }

    /** A statement that draws a token. */
    Call<Dialect.Drawn> draw(String sql, @Nullable Object... arguments) {
        return add(new Call<>(sql, null, true, arguments));
    }

    private static <T> T orGone(@Nullable T answer) throws SQLException {
        if (answer == null) {
            throw new SQLException("A row that was locked is gone.", "40001");
        }
        return answer;
    }

    private <T> Call<T> add(Call<T> call) {
        calls.add(call);
        return call;
    }
}
