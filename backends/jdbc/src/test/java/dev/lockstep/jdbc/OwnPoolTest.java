package dev.lockstep.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class OwnPoolTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    @Test
    void aConnectionThatComesWhenItsPoolIsClosedDoesNotStay() throws Exception {
        String url = "jdbc:h2:mem:";
        DataSource h2 = OwnPool.source(url, Dialects.ofUrl(url), PATIENCE);
        Queue<Connection> made = new ConcurrentLinkedQueue<>();
        CountDownLatch asked = new CountDownLatch(2);
        CountDownLatch slow = new CountDownLatch(1);
        DataSource source = HurtSource.proxy(DataSource.class, (self, method, arguments) -> {
            if (!method.getName().equals("getConnection")) {
                return HurtSource.invoke(h2, method, arguments);
            }
            asked.countDown();
            if (asked.getCount() == 0) {
                slow.await();
            }
            Connection connection = h2.getConnection();
            made.add(connection);
            return connection;
        });
        HikariDataSource pool = OwnPool.open(source, "test", 2, PATIENCE);
        Connection first = pool.getConnection();
        CompletableFuture<Connection> second = CompletableFuture.supplyAsync(() -> get(pool));
        assertThat(asked.await(20, TimeUnit.SECONDS)).isTrue();
        first.close();
        second.get(20, TimeUnit.SECONDS).close();
        pool.close();
        slow.countDown();
        Awaitility.await("it has come").atMost(PATIENCE).until(() -> made.size() == 2);
        Awaitility.await("none stays")
                .atMost(PATIENCE)
                .until(() -> made.stream().allMatch(OwnPoolTest::isClosed));
    }

    private static Connection get(DataSource source) {
        try {
            return source.getConnection();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private static boolean isClosed(Connection connection) {
        try {
            return connection.isClosed();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
