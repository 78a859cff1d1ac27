package dev.lockstep.docs.snippets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.LeaderElection;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.Permit;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The recipes do what the guide says. */
class RecipesTest {
    private final String url = "memory:" + UUID.randomUUID();
    private final LockClient locks = LockClient.connect(url);
    private final LockClient other = LockClient.connect(url);
    private final Register shop = new Register();
    private final Recipes recipes = new Recipes(locks, shop);

    @AfterEach
    void close() {
        other.close();
        locks.close();
    }

    @Test
    void shipWaitsForATimeAndIsBusyElse() throws Exception {
        recipes.waitForATime();
        recipes.handle();
        try (Lease held = other.lock("order:42").acquire()) {
            assertThat(held.isValid()).isTrue();
            recipes.waitForATime();
            recipes.handle();
        }
        assertThat(shop.done).containsExactly("ship 42", "ship 42 fenced", "busy 42");
    }

    @Test
    void templateRunsOrSaysWhoHolds() throws Exception {
        assertThat(recipes.template()).isEqualTo(1);
        try (Lease held = other.lock("order-numbers").acquire()) {
            assertThat(held.isValid()).isTrue();
            assertThat(recipes.templateThatIsBusy()).contains("order-numbers").contains(other.name());
        }
    }

    @Test
    void jobRunsOnce() throws Exception {
        try (Lease held = other.lock("nightly-report").acquire()) {
            assertThat(held.isValid()).isTrue();
            recipes.onceInTheCluster();
        }
        assertThat(shop.done).isEmpty();
        recipes.onceInTheCluster();
        recipes.onceInTheCluster(); // by an instance whose clock is behind
        assertThat(shop.done).containsExactly("report");
        assertThat(other.lock("nightly-report").tryLock()).isFalse();
    }

    @Test
    void callsAreLimitedInAllProcessesTogether() throws Exception {
        List<Permit> held = new ArrayList<>();
        for (int i = 0; i < 9; i++) {
            held.add(other.semaphore("slow-service", 10).acquire());
        }
        recipes.limitCalls();
        assertThat(shop.done).containsExactly("slow call");
        held.forEach(Permit::close);
    }

    @Test
    void eachWorkerHasAShardOfItsOwn() throws Exception {
        try (Permit first = other.semaphore("import-shards", 4).acquire()) {
            assertThat(first.slot()).isZero();
            recipes.workerOfAShard();
        }
        assertThat(shop.done).isNotEmpty().allMatch(done -> done.equals("shard 1"));
    }

    @Test
    void oneSchedulerIsActiveAndOthersKnowWhere() throws Exception {
        try (LeaderElection election = recipes.activeScheduler()) {
            while (!election.isLeader() || !shop.done.contains("job")) {
                Thread.onSpinWait();
            }
            assertThat(recipes.whereTheSchedulerIs()).isEqualTo("10.0.0.7:8080");
        }
        assertThat(recipes.whereTheSchedulerIs()).isEqualTo("nobody leads");
    }

    @Nested
    class InStorage {
        private static final String AMOUNT = "SELECT amount FROM stock WHERE id = ?";
        private static final String WRITE = "UPDATE stock SET amount = ?, token = ? WHERE id = ? AND token <= ?";

        private Recipes.Jdbc jdbc;
        private long stale;

        @BeforeEach
        void open(@TempDir Path folder) throws Exception {
            jdbc = new Recipes.Jdbc(DriverManager.getConnection("jdbc:sqlite:" + folder.resolve("shop.db")));
            jdbc.update("CREATE TABLE stock (id VARCHAR(20) PRIMARY KEY, amount INT, token BIGINT)");
            jdbc.update("INSERT INTO stock VALUES ('pen', 10, 0)");
            try (Lease earlier = other.lock("stock:pen").acquire()) {
                stale = earlier.token();
            }
        }

        @AfterEach
        void close() throws Exception {
            jdbc.connection().close();
        }

        @Test
        void staleWriteIsRefused() throws Exception {
            recipes.fencedWrite(jdbc.connection(), "pen");
            assertThat(jdbc.queryForInt(AMOUNT, "pen")).isEqualTo(9);
            assertThat(writeByTheStale()).isZero();
            jdbc.update("UPDATE stock SET token = " + Long.MAX_VALUE);
            assertThatThrownBy(() -> recipes.fencedWrite(jdbc.connection(), "pen"))
                    .hasMessageContaining("stale");
        }

        @Test
        void staleWriterCannotComeBetweenReadAndWrite() throws Exception {
            recipes.fencedReadAndWrite(jdbc, "pen", amount -> {
                assertThat(writeByTheStale()).isZero();
                return amount - 1;
            });
            assertThat(jdbc.queryForInt(AMOUNT, "pen")).isEqualTo(9);
            jdbc.update("UPDATE stock SET token = " + Long.MAX_VALUE);
            assertThatThrownBy(() -> recipes.fencedReadAndWrite(jdbc, "pen", amount -> amount))
                    .hasMessageContaining("later holder");
        }

        /** The mistake that the guide warns of: a token that is presented only with the write. */
        @Test
        void withoutATokenAtTheReadItCan() throws Exception {
            try (Lease lease = locks.lock("stock:pen").acquire()) {
                int amount = jdbc.queryForInt(AMOUNT, "pen");
                assertThat(writeByTheStale()).isEqualTo(1);
                assertThat(jdbc.update(WRITE, amount - 1, lease.token(), "pen", lease.token()))
                        .isEqualTo(1); // and what the stale one has written is lost
            }
        }

        private int writeByTheStale() {
            try {
                return jdbc.update(WRITE, 99, stale, "pen", stale);
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    @Test
    void theRestRuns() throws Exception {
        recipes.stopWhenLost();
        recipes.readersAndWriters();
        recipes.severalAtOnce();
        recipes.later().get(20, TimeUnit.SECONDS);
        recipes.options();
        assertThat(shop.done).containsExactly("import", "prices", "set prices", "transfer", "ship later 42");
        try (Lease held = other.lock("order:42").acquire()) {
            recipes.operators();
            assertThat(held.isValid()).isFalse();
        } catch (IllegalMonitorStateException expected) {
            assertThat(expected).hasMessageContaining("order:42");
        }
    }

    @Test
    void configuredClientsConnectAndListen() throws Exception {
        BlockingQueue<String> heard = new LinkedBlockingQueue<>();
        try (LockClient client = Recipes.configured(url, new Recipes.Watcher(new Recipes.Meters() {
            @Override
            public void time(String name, Duration duration) {
                heard.add(name);
            }

            @Override
            public void alert(String text) {
                heard.add(text);
            }
        }))) {
            assertThat(client.name()).isEqualTo("api-1");
            client.lock("x").acquire().close();
        }
        assertThat(heard.poll(20, TimeUnit.SECONDS)).isEqualTo("lock.wait"); // listeners hear it in their own time
        assertThat(heard.poll(20, TimeUnit.SECONDS)).isEqualTo("lock.held");
        try (LockClient client = Recipes.withFallback(url)) {
            client.lock("x").acquire().close();
        }
    }

    /** Writes down what is done to it. */
    private static final class Register implements Recipes.Shop {
        private final List<String> done = new CopyOnWriteArrayList<>();
        private boolean more = true;

        @Override
        public void ship(int order) {
            done.add("ship " + order);
        }

        @Override
        public void ship(int order, long token) {
            done.add("ship " + order + " fenced");
        }

        @Override
        public CompletableFuture<Void> shipLater(int order, long token) {
            done.add("ship later " + order);
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public void tellBusy(int order) {
            done.add("busy " + order);
        }

        @Override
        public int nextNumber(long token) {
            return 1;
        }

        @Override
        public void report(long token) {
            done.add("report");
        }

        @Override
        public boolean hasMore() {
            return more;
        }

        @Override
        public void importNext(long token) {
            more = false;
            done.add("import");
        }

        @Override
        public void stopImport() {
            done.add("stop");
        }

        @Override
        public void showPrices() {
            done.add("prices");
        }

        @Override
        public void setPrices(long token) {
            done.add("set prices");
        }

        @Override
        public void transfer(int from, int to, long fromToken, long toToken) {
            done.add("transfer");
        }

        @Override
        public void callSlowService() {
            done.add("slow call");
        }

        @Override
        public void importShard(int shard, long token) {
            more = false;
            done.add("shard " + shard);
        }

        @Override
        public void runNextJob(long token) {
            if (!done.contains("job")) {
                done.add("job");
            }
            Thread.onSpinWait();
        }
    }
}
