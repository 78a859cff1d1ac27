package dev.lockstep.benchmarks.peers.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import dev.lockstep.benchmarks.worker.Contender;
import java.time.Duration;
import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.jdbc.support.JdbcTransactionManager;

/** Spring Integration's JdbcLockRegistry with its defaults. It does not renew by itself. */
public final class SpringJdbc implements Contender {
    private static final String TABLE =
            "CREATE TABLE IF NOT EXISTS INT_LOCK (LOCK_KEY CHAR(36) NOT NULL, REGION VARCHAR(100)"
                    + " NOT NULL, CLIENT_ID CHAR(36), CREATED_DATE TIMESTAMP NOT NULL, EXPIRED_AFTER TIMESTAMP NOT NULL,"
                    + " PRIMARY KEY (LOCK_KEY, REGION))";

    /** It forgets the oldest of more locks than this. */
    private static final int LOCKS = 100_000;

    /**
     * Makes it.
     *
     * @param variant there is none
     */
    public SpringJdbc(String variant) {}

    @Override
    public Client open(String url) throws Exception {
        HikariDataSource pool = Pool.open(url, TABLE);
        DefaultLockRepository repository = new DefaultLockRepository(pool);
        repository.setTransactionManager(new JdbcTransactionManager(pool));
        repository.afterPropertiesSet();
        repository.afterSingletonsInstantiated();
        repository.start();
        JdbcLockRegistry registry = new JdbcLockRegistry(repository, Duration.ofSeconds(30));
        registry.setCacheCapacity(LOCKS);
        return new Client() {
            @Override
            public Mutex mutex(String name) {
                return Mutex.of(registry.obtain(name));
            }

            @Override
            public void close() {
                pool.close();
            }
        };
    }
}
