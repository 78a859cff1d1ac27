package dev.lockstep.jdbc;

import dev.lockstep.LockClient;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** A client whose statements can be seen and delayed, and whose internals can be reached. */
final class TestClient implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final Queue<String> statements = new ConcurrentLinkedQueue<>();
    private final HurtSource source;
    private final LockClient client;
    private @Nullable JdbcBackend backend;

    private TestClient(
            String url, String namespace, Duration ttl, Duration requestTimeout, UnaryOperator<JdbcEngine> settings) {
        Dialect dialect = Dialects.ofUrl(url);
        DataSource driver = OwnPool.source(url, dialect, Duration.ofSeconds(5));
        source = new HurtSource(driver, new AtomicLong(), Duration.ofSeconds(5));
        source.before(statements::add);
        JdbcEngine locks = settings.apply(JdbcEngine.at(url).createSchema(true).driver(source));
        client = LockClient.builder()
                .namespace(namespace)
                .ttl(ttl)
                .requestTimeout(requestTimeout)
                .retryBackoff(Duration.ofMillis(10), Duration.ofMillis(100))
                .backend(context -> {
                    backend = (JdbcBackend) locks.open(context);
                    return backend;
                })
                .connect();
    }

    static TestClient open(String url, String namespace) {
        return open(url, namespace, Duration.ofSeconds(30));
    }

    static TestClient open(String url, String namespace, Duration ttl) {
        return open(url, namespace, ttl, UnaryOperator.identity());
    }

    static TestClient open(String url, String namespace, Duration ttl, UnaryOperator<JdbcEngine> settings) {
        return new TestClient(url, namespace, ttl, PATIENCE, settings);
    }

    /** One whose calls end soon if the engine does not answer. */
    static TestClient openGivingUpSoon(String url, String namespace) {
        return openGivingUpSoon(url, namespace, Duration.ofSeconds(30));
    }

    static TestClient openGivingUpSoon(String url, String namespace, Duration ttl) {
        return new TestClient(url, namespace, ttl, Duration.ofSeconds(5), UnaryOperator.identity());
    }

    LockClient client() {
        return client;
    }

    HurtSource source() {
        return source;
    }

    JdbcBackend backend() {
        if (backend == null) {
            throw new IllegalStateException("not connected");
        }
        return backend;
    }

    /** The statements that were sent since the last call. */
    List<String> sent() {
        List<String> sent = new ArrayList<>();
        for (String next = statements.poll(); next != null; next = statements.poll()) {
            sent.add(next);
        }
        return sent;
    }

    <T> T call(Link.Work<T> work) throws SQLException {
        return backend().requests().call(work);
    }

    @Override
    public void close() {
        client.close();
    }
}
