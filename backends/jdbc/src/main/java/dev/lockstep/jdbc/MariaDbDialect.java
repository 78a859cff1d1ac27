package dev.lockstep.jdbc;

import java.sql.SQLException;
import java.util.regex.Pattern;

/** MariaDB. */
final class MariaDbDialect extends MySqlDialect {
    private static final Pattern ARGUMENT_WORDS =
            Pattern.compile("error parsing url|Incorrect port value|Failed load keyStore");

    @Override
    String product() {
        return "MariaDB";
    }

    @Override
    String scheme() {
        return "mariadb";
    }

    @Override
    String driver() {
        return "org.mariadb.jdbc:mariadb-java-client";
    }

    @Override
    boolean isAboutArguments(SQLException failure) {
        return Failure.matches(failure, ARGUMENT_WORDS) || super.isAboutArguments(failure);
    }
}
