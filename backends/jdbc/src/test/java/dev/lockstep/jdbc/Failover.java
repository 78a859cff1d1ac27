package dev.lockstep.jdbc;

import dev.lockstep.servers.PostgresServer;
import dev.lockstep.servers.SqlServer;

/** Two servers, of which the second follows the first, behind a URL that names both. */
record Failover(PostgresServer primary, PostgresServer standby) implements AutoCloseable {
    /** The driver looks for the one that takes writes. */
    String url() {
        String both = primary.jdbcUrl()
                .replace("127.0.0.1:" + primary.port(), "127.0.0.1:" + primary.port() + ",127.0.0.1:" + standby.port());
        return ServerDatabase.withUser(both, SqlServer.USER, SqlServer.PASSWORD) + "&targetServerType=primary";
    }

    void switchOver() {
        primary.kill();
        standby.promote();
    }

    @Override
    public void close() {}
}
