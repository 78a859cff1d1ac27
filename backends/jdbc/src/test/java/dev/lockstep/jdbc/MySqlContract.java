package dev.lockstep.jdbc;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockUnavailableException;
import java.sql.Connection;
import java.time.Duration;
import javax.sql.DataSource;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The contract, and what is to be shown on MySQL and MariaDB beside it. */
abstract class MySqlContract extends SqlContract {
    /** Users with whom the server does not talk. */
    @Nested
    class Accounts {
        /** Makes an account, which sees no database. */
        private DataSource account(String name, String options) {
            SqlFixture.execute(database().url(), "CREATE USER " + name + " IDENTIFIED BY 'pass' " + options);
            String url = database()
                    .url()
                    .replace("/lockstep?", "/?")
                    .replaceFirst("user=.*", "user=" + name + "&password=pass");
            return OwnPool.source(url, Dialects.ofUrl(url), Duration.ofSeconds(5));
        }

        private LockClient connect(DataSource source) {
            return LockClient.builder().backend(JdbcLocks.over(source)).connect();
        }

        @ParameterizedTest
        @ValueSource(strings = {"ACCOUNT LOCK", "PASSWORD EXPIRE"})
        void anAccountThatMayNotLogInIsAWrongSetUp(String option) {
            DataSource source = account(option.replace(' ', '_'), option);
            assertThatThrownBy(() -> connect(source)).isInstanceOf(LockConfigurationException.class);
        }

        @Test
        void tooManyConnectionsOfAnAccountAreNotAWrongSetUp() throws Exception {
            DataSource source = account("busy", "WITH MAX_USER_CONNECTIONS 1");
            try (Connection only = source.getConnection()) {
                assertThatThrownBy(() -> connect(source)).isInstanceOf(LockUnavailableException.class);
            }
        }
    }
}
