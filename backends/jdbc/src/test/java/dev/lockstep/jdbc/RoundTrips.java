package dev.lockstep.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.DistributedLock;
import dev.lockstep.DistributedSemaphore;
import dev.lockstep.LockClient;
import dev.lockstep.Permit;
import dev.lockstep.servers.TcpProxy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;

/**
 * Counts the round trips of calls, by how long they take over a link that is so slow that all else is quick; and compares
 * them with what the manual says. The statements of waiters are counted elsewhere, since no call waits for them.
 */
final class RoundTrips {
    private static final Path MANUAL = Path.of("../../docs/engines/sql.md");
    private static final Duration EACH_WAY = Duration.ofMillis(25);
    private static final int TRIES = 4;
    private static final int MOST_TRIES = 40;

    private final TcpProxy proxy;
    private final int column;

    private RoundTrips(TcpProxy proxy, int column) {
        this.proxy = proxy;
        this.column = column;
    }

    /** A client with a pool of its own, whose numbers are in a column of the manual. */
    static void assertDocumentedByUrl(SqlFixture.Database database, int column) throws IOException {
        try (TcpProxy proxy = TcpProxy.to(database.port())) {
            new RoundTrips(proxy, column).compare(database, JdbcEngine.at(database.url(proxy.port())));
        }
    }

    private void compare(SqlFixture.Database database, JdbcEngine far) throws IOException {
        String namespace = "trips-" + UUID.randomUUID();
        try (LockClient near = open(namespace, JdbcEngine.at(database.url()));
                LockClient client = open(namespace, far)) {
            near.lock("held").lock();
            compare("`lock()` of a free lock; `unlock()`", client.lock("free"));
            compare(
                    "a reader's `lock()`; `unlock()`",
                    client.readWriteLock("read").readLock());
            comparePermit(client.semaphore("permits", 3));
            String busy = "`tryLock()` of a lock that is held";
            long wanted = documented(busy).get(0);
            assertThat(trips(wanted, () -> {}, client.lock("held")::tryLock, () -> {}))
                    .as(busy)
                    .isEqualTo(wanted);
            near.lock("held").unlock();
        }
    }

    private static LockClient open(String namespace, JdbcEngine locks) {
        return LockClient.builder()
                .namespace(namespace)
                .ttl(Duration.ofMinutes(2)) // no renewal comes between
                .backend(locks.createSchema(true))
                .connect();
    }

    private void compare(String row, DistributedLock lock) throws IOException {
        List<Long> wanted = documented(row);
        assertThat(List.of(
                        trips(wanted.get(0), () -> {}, lock::lock, lock::unlock),
                        trips(wanted.get(1), lock::lock, lock::unlock, () -> {})))
                .as(row)
                .isEqualTo(wanted);
    }

    private void comparePermit(DistributedSemaphore semaphore) throws IOException {
        String row = "a permit's `acquire()`; `close()`";
        List<Long> wanted = documented(row);
        AtomicReference<Permit> permit = new AtomicReference<>();
        Runnable acquire = () -> permit.set(semaphore.tryAcquire().orElseThrow());
        Runnable close = () -> Objects.requireNonNull(permit.get()).close();
        assertThat(List.of(
                        trips(wanted.get(0), () -> {}, acquire, close), trips(wanted.get(1), acquire, close, () -> {})))
                .as(row)
                .isEqualTo(wanted);
    }

    /**
     * The round trips of a call. Nothing makes it quicker than it is, so the quickest of some tries is right; and a machine that
     * makes all of them slow is given some more.
     */
    private long trips(long wanted, Runnable before, Runnable measured, Runnable after) {
        long best = Long.MAX_VALUE;
        for (int i = 0; i <= TRIES || (i <= MOST_TRIES && count(best) > wanted); i++) {
            before.run();
            proxy.delay(i == 0 ? Duration.ZERO : EACH_WAY); // the first use of a name makes its row
            long start = System.nanoTime();
            measured.run();
            long taken = System.nanoTime() - start;
            proxy.delay(Duration.ZERO);
            best = i == 0 ? best : Math.min(best, taken);
            after.run();
        }
        return count(best);
    }

    private static long count(long nanos) {
        return nanos / EACH_WAY.multipliedBy(2).toNanos();
    }

    /** The numbers of a row of the manual in this column. */
    private List<Long> documented(String row) throws IOException {
        String line = Files.readAllLines(MANUAL).stream()
                .filter(each -> each.startsWith("| " + row + " |"))
                .findFirst()
                .orElseThrow(() -> new AssertionError(MANUAL + " has no row '" + row + "'"));
        String cell = line.split(Pattern.quote(" | "))[column];
        return Pattern.compile("\\d+")
                .matcher(cell)
                .results()
                .map(number -> Long.valueOf(number.group()))
                .toList();
    }
}
