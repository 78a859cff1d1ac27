package dev.lockstep.benchmarks.peers.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import dev.lockstep.benchmarks.worker.Contender;
import java.time.Duration;
import java.time.Instant;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;

/** ShedLock by the database's clock. It never waits, so it is used where nobody has to. */
public final class ShedLock implements Contender {
    private static final String TABLE =
            "CREATE TABLE IF NOT EXISTS shedlock (name VARCHAR(64) NOT NULL, lock_until TIMESTAMP(3)"
                    + " NOT NULL, locked_at TIMESTAMP(3) NOT NULL, locked_by VARCHAR(255) NOT NULL, PRIMARY KEY (name))";

    /**
     * Makes it.
     *
     * @param variant there is none
     */
    public ShedLock(String variant) {}

    @Override
    public Client open(String url) throws Exception {
        HikariDataSource pool = Pool.open(url, TABLE);
        JdbcTemplateLockProvider provider =
                new JdbcTemplateLockProvider(JdbcTemplateLockProvider.Configuration.builder()
                        .withJdbcTemplate(new JdbcTemplate(pool))
                        .usingDbTime()
                        .build());
        return new Client() {
            @Override
            public Mutex mutex(String name) {
                return new OneOwner(provider, name);
            }

            @Override
            public void close() {
                pool.close();
            }
        };
    }

    /** A lock that one thread uses. */
    private static final class OneOwner implements Mutex {
        private final JdbcTemplateLockProvider provider;
        private final String name;
        private @Nullable SimpleLock held;

        OneOwner(JdbcTemplateLockProvider provider, String name) {
            this.provider = provider;
            this.name = name;
        }

        @Override
        public void lock() {
            // A lock that was released in this millisecond counts as held there.
            for (held = null; held == null; held = ask()) {}
        }

        private @Nullable SimpleLock ask() {
            return provider.lock(new LockConfiguration(Instant.now(), name, Duration.ofSeconds(30), Duration.ZERO))
                    .orElse(null);
        }

        @Override
        public void unlock() {
            if (held != null) {
                held.unlock();
            }
        }
    }
}
