package dev.lockstep.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.DistributedLock;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.ReleaseNotConfirmedException;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The contract, and what is to be shown on MySQL and MariaDB beside it. */
abstract class MySqlContract extends SqlContract {
    /** As during a backup: reads are answered, and writes wait. */
    @Test
    void tablesThatCanOnlyBeReadAreAnErrorAndNotBusy() throws Exception {
        Duration ttl = Duration.ofSeconds(5);
        try (TestClient test = TestClient.openGivingUpSoon(url(), namespace, ttl);
                Connection other = OwnPool.source(url(), Dialects.ofUrl(url()), Duration.ofSeconds(60))
                        .getConnection();
                Statement statement = other.createStatement()) {
            DistributedLock lock = test.client().lock("a");
            lock.lock();
            lock.unlock();
            statement.execute("FLUSH TABLES WITH READ LOCK");
            // The test shows the state after the session has expired.
            TimeUnit.MILLISECONDS.sleep(ttl.plusSeconds(2).toMillis());
            assertThatThrownBy(() -> lock.tryLock(6, TimeUnit.SECONDS)).isInstanceOf(LockUnavailableException.class);
            assertThatThrownBy(() -> test.client().lock("a").acquireAsync().get(SOON, TimeUnit.SECONDS))
                    .hasCauseInstanceOf(LockUnavailableException.class);
            statement.execute("UNLOCK TABLES");
            assertThat(lock.tryLock(SOON, TimeUnit.SECONDS)).isTrue();
            lock.unlock();
        }
    }

    /** That a client which insists on encryption, by a mode of its driver, is not set up for a server that has none. */
    void assertTlsIsAWrongSetUp(String mode) {
        String url = url().replaceFirst("sslMode=\\w+", "sslMode=" + mode);
        assertThatThrownBy(() -> LockClient.builder().url(url).connect())
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining("to connect failed");
    }

    /** Its server answers all that only reads. */
    @Test
    void tooManyWritesOfAnAccountAreReportedAsSuch() {
        SqlFixture.execute(database().url(), "CREATE USER eager IDENTIFIED BY 'pass' WITH MAX_UPDATES_PER_HOUR 30");
        SqlFixture.execute(database().url(), "GRANT ALL ON lockstep.* TO eager");
        String url = url().replaceFirst("user=.*", "user=eager&password=pass&lockstep.createSchema=true");
        try (LockClient client = LockClient.builder().url(url).connect()) {
            DistributedLock lock = client.lock("a");
            assertThatThrownBy(() -> {
                        for (int i = 0; i < 30; i++) {
                            lock.lock();
                            lock.unlock();
                        }
                    })
                    .isInstanceOfAny(LockUnavailableException.class, ReleaseNotConfirmedException.class);
            assertThatThrownBy(client.lock("b")::lock)
                    .isInstanceOf(LockUnavailableException.class)
                    .hasMessageContaining("max_updates");
        }
    }

    /** Users that the server rejects. */
    @Nested
    class Accounts {
        /** Makes an account, which sees no database. */
        private DataSource account(String name, String options) {
            SqlFixture.execute(database().url(), "CREATE USER " + name + " IDENTIFIED BY 'pass' " + options);
            String url = database()
                    .url()
                    .replace("/lockstep?", "/?")
                    .replaceFirst("user=.*", "user=" + name + "&password=pass");
            return OwnPool.source(url, Dialects.ofUrl(url), Duration.ofSeconds(20));
        }

        private LockClient connect(DataSource source) {
            return LockClient.builder().backend(JdbcEngine.over(source)).connect();
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
