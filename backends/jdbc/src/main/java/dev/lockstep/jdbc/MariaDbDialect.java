package dev.lockstep.jdbc;

/** MariaDB. */
final class MariaDbDialect extends MySqlDialect {
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
}
