package dev.lockstep.jdbc;

import dev.lockstep.spi.BackendFactory;
import dev.lockstep.spi.BackendProvider;
import java.util.Set;

/**
 * Announces {@code jdbc:} URLs of PostgreSQL, MySQL, MariaDB, H2 and SQLite. Lockstep's own settings in a URL begin
 * with {@code lockstep.}: {@code tablePrefix}, {@code schema}, {@code createSchema}, {@code poolSize}, {@code listen}
 * and {@code passwordFile}.
 */
public final class JdbcProvider implements BackendProvider {
    /** Made by the service loader. */
    public JdbcProvider() {}

    @Override
    public Set<String> schemes() {
        return Set.of("jdbc");
    }

    @Override
    public BackendFactory parse(String url) {
        return JdbcEngine.at(url);
    }
}
