package dev.lockstep.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.SQLException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A failure means what its database means by it, and not what another one does. */
class FailureTest {
    private static SQLException state(String state) {
        return new SQLException("it failed", state);
    }

    @ParameterizedTest
    @CsvSource({
        "PostgreSQL, 40001, CONFLICT",
        "PostgreSQL, 26000, CONFLICT",
        "PostgreSQL, 42P05, CONFLICT",
        "PostgreSQL, 53100, REFUSED",
        "PostgreSQL, 25006, REFUSED",
        "PostgreSQL, 42501, WRONG",
        "PostgreSQL, 08006, UNREACHABLE",
        "MySQL, 40001, CONFLICT",
        "MySQL, 41000, CONFLICT",
        "MySQL, 25006, REFUSED",
        "MySQL, 53100, UNREACHABLE",
        "MySQL, 26000, UNREACHABLE",
        "MariaDB, 25006, REFUSED",
        "H2, 40001, CONFLICT",
        "H2, 42P05, WRONG",
        "H2, 53100, UNREACHABLE",
        "H2, 41000, UNREACHABLE",
    })
    void aStateMeansWhatTheDatabaseMeansByIt(String product, String state, Failure meaning) {
        assertThat(Failure.of(state(state), Dialects.ofProduct(product))).isEqualTo(meaning);
    }

    /** The rules of all count until the database is known. */
    @ParameterizedTest
    @CsvSource({
        "26000, CONFLICT",
        "42P05, CONFLICT",
        "41000, CONFLICT",
        "53100, REFUSED",
        "25006, REFUSED",
        "28P01, WRONG",
    })
    void aStateMeansWhatAnyDatabaseMeansByItWhileTheDatabaseIsUnknown(String state, Failure meaning) {
        assertThat(Failure.of(state(state), null)).isEqualTo(meaning);
    }

    @ParameterizedTest
    @CsvSource({"PostgreSQL, true", "MySQL, true", "MariaDB, true", "H2, false", "SQLite, false"})
    void aServerThatBecameReadOnlySpoilsItsConnections(String product, boolean readOnly) {
        assertThat(Dialects.ofProduct(product).isReadOnly(state("25006"))).isEqualTo(readOnly);
    }

    @ParameterizedTest
    @CsvSource({"PostgreSQL, true", "MySQL, false", "H2, false"})
    void aWrongValueInTheUrlIsThatOfTheOwnDriver(String product, boolean about) {
        assertThat(Failure.isAboutArguments(state("22023"), Dialects.ofProduct(product)))
                .isEqualTo(about);
    }
}
