package dev.lockstep.docs.snippets;

import dev.lockstep.DeadlockPolicy;
import dev.lockstep.DistributedLock;
import dev.lockstep.DistributedReadWriteLock;
import dev.lockstep.DistributedSemaphore;
import dev.lockstep.Fallback;
import dev.lockstep.Leader;
import dev.lockstep.LeaderElection;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockInfo;
import dev.lockstep.LockListener;
import dev.lockstep.LockOptions;
import dev.lockstep.LockTimeoutException;
import dev.lockstep.Permit;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.IntUnaryOperator;

/** The recipes of the guide. {@link RecipesTest} runs all of it. */
final class Recipes {
    private final LockClient locks;
    private final Shop shop;

    Recipes(LockClient locks, Shop shop) {
        this.locks = locks;
        this.shop = shop;
    }

    void waitForATime() throws InterruptedException {
        // tag::wait
        DistributedLock lock = locks.lock("order:42");
        if (lock.tryLock(2, TimeUnit.SECONDS)) {
            try {
                shop.ship(42);
            } finally {
                lock.unlock();
            }
        } else {
            shop.tellBusy(42); // the lock is taken; if the engine does not answer, tryLock throws
        }
        // end::wait
    }

    void handle() throws InterruptedException {
        // tag::lease
        Optional<Lease> maybe = locks.lock("order:42").tryAcquire(Duration.ofSeconds(2));
        if (maybe.isPresent()) {
            try (Lease lease = maybe.get()) {
                shop.ship(42, lease.token());
            }
        }
        // end::lease
    }

    int template() throws InterruptedException {
        // tag::template
        int number = locks.template()
                .waitAtMost(Duration.ofSeconds(5))
                .execute("order-numbers", lease -> shop.nextNumber(lease.token()));
        // end::template
        return number;
    }

    String templateThatIsBusy() throws InterruptedException {
        try {
            locks.template().waitAtMost(Duration.ofMillis(50)).execute("order-numbers", lease -> 0);
            return "";
        } catch (LockTimeoutException e) {
            return String.valueOf(e.getMessage());
        }
    }

    void onceInTheCluster() {
        // tag::job
        LockOptions options = LockOptions.defaults().minHold(Duration.ofMinutes(1)); // longer than clocks differ
        Optional<Lease> mine = locks.lock("nightly-report", options).tryAcquire(); // one process gets it
        if (mine.isPresent()) {
            try (Lease lease = mine.get()) {
                shop.report(lease.token());
            }
        }
        // end::job
    }

    void fencedWrite(Connection connection, String id) throws InterruptedException, SQLException {
        // tag::fencing
        String sql = "UPDATE stock SET amount = amount - 1, token = ? WHERE id = ? AND token <= ?";
        try (Lease lease = locks.lock("stock:" + id).acquire();
                PreparedStatement update = connection.prepareStatement(sql)) {
            update.setLong(1, lease.token());
            update.setString(2, id);
            update.setLong(3, lease.token());
            if (update.executeUpdate() == 0) {
                throw new IllegalStateException("a later holder has written " + id + ": this one is stale");
            }
        }
        // end::fencing
    }

    void fencedReadAndWrite(Jdbc jdbc, String id, IntUnaryOperator sold) throws InterruptedException, SQLException {
        // tag::fenced-read
        try (Lease lease = locks.lock("stock:" + id).acquire()) {
            long token = lease.token();
            String show = "UPDATE stock SET token = ? WHERE id = ? AND token <= ?";
            if (jdbc.update(show, token, id, token) == 0) { // before the read: shuts out all earlier holders
                throw new IllegalStateException("a later holder was here");
            }
            int amount = jdbc.queryForInt("SELECT amount FROM stock WHERE id = ?", id);
            String write = "UPDATE stock SET amount = ?, token = ? WHERE id = ? AND token <= ?";
            if (jdbc.update(write, sold.applyAsInt(amount), token, id, token) == 0) {
                throw new IllegalStateException("a later holder was here");
            }
        }
        // end::fenced-read
    }

    /** A helper that most frameworks have: a statement with its values. */
    record Jdbc(Connection connection) {
        int update(String sql, Object... values) throws SQLException {
            try (PreparedStatement statement = prepare(sql, values)) {
                return statement.executeUpdate();
            }
        }

        int queryForInt(String sql, Object... values) throws SQLException {
            try (PreparedStatement statement = prepare(sql, values);
                    ResultSet row = statement.executeQuery()) {
                return row.next() ? row.getInt(1) : 0;
            }
        }

        private PreparedStatement prepare(String sql, Object... values) throws SQLException {
            PreparedStatement statement = connection.prepareStatement(sql);
            for (int i = 0; i < values.length; i++) {
                statement.setObject(i + 1, values[i]);
            }
            return statement;
        }
    }

    void stopWhenLost() throws InterruptedException {
        // tag::lost
        try (Lease lease = locks.lock("import").acquire()) {
            lease.onLost(reason -> shop.stopImport()); // at once, on the client's executor
            while (shop.hasMore()) {
                lease.ensureValid(); // before each step: a look at the clock, no round trip
                shop.importNext(lease.token());
            }
        }
        // end::lost
    }

    void readersAndWriters() throws InterruptedException {
        // tag::shared
        DistributedReadWriteLock prices = locks.readWriteLock("prices");
        try (Lease reading = prices.readLock().acquire()) { // together with other readers, on any machine
            shop.showPrices();
        }
        try (Lease writing = prices.writeLock().acquire()) { // alone; readers that come later wait behind it
            shop.setPrices(writing.token());
        }
        // end::shared
    }

    void severalAtOnce() throws InterruptedException {
        // tag::multi
        DistributedLock both =
                locks.multiLock("account:7", "account:9"); // all or none, in whatever order callers name them
        try (Lease lease = both.acquire()) {
            shop.transfer(7, 9, lease.token("account:7"), lease.token("account:9"));
        }
        // end::multi
    }

    CompletableFuture<Void> later() {
        // tag::async
        CompletableFuture<Void> done = locks.lock("order:42")
                .acquireAsync() // no thread is held while it waits
                .thenCompose(lease -> shop.shipLater(42, lease.token())
                        .handle((result, error) -> lease.closeAsync())
                        .thenCompose(closed -> closed));
        // end::async
        return done;
    }

    void limitCalls() throws InterruptedException {
        // tag::semaphore
        DistributedSemaphore calls = locks.semaphore("slow-service", 10); // for all processes together
        try (Permit permit = calls.acquire()) {
            shop.callSlowService();
        }
        // end::semaphore
    }

    void workerOfAShard() throws InterruptedException {
        // tag::shards
        DistributedSemaphore shards = locks.semaphore("import-shards", 4);
        try (Permit permit = shards.acquire()) { // waits while all four shards have a worker
            int shard = permit.slot(); // 0 to 3; no other live worker has it
            while (permit.isValid() && shop.hasMore()) {
                shop.importShard(shard, permit.token()); // storage keeps the highest token for each shard
            }
        }
        // end::shards
    }

    LeaderElection activeScheduler() {
        // tag::election
        LeaderElection election = locks.election("scheduler", "10.0.0.7:8080", term -> {
            while (!Thread.currentThread().isInterrupted()) { // interrupted when the term ends
                shop.runNextJob(term.token()); // storage refuses a term lower than it has seen
            }
        });
        // end::election
        return election;
    }

    String whereTheSchedulerIs() {
        // tag::leader
        String address = locks.leader("scheduler").map(Leader::payload).orElse("nobody leads");
        // end::leader
        return address;
    }

    void options() throws InterruptedException {
        // tag::options
        LockOptions turns = LockOptions.defaults().fair(); // first come, first served, over all processes
        LockOptions bounded =
                LockOptions.defaults().maxHold(Duration.ofMinutes(5)); // lost after 5 minutes, renewed or not
        LockOptions kept = LockOptions.defaults().sticky(Duration.ofSeconds(10)); // stays here until somebody wants it
        // end::options
        locks.lock("turns", turns).acquire().close();
        locks.lock("bounded", bounded).acquire().close();
        locks.lock("kept", kept).acquire().close();
    }

    static LockClient configured(String url, LockListener listener) {
        // tag::builder
        LockClient locks = LockClient.builder()
                .url(url)
                .namespace("shop")
                .clientName("api-1")
                .ttl(Duration.ofSeconds(10))
                .requestTimeout(Duration.ofSeconds(2))
                .retryBackoff(Duration.ofMillis(50), Duration.ofSeconds(2))
                .listener(listener)
                .connect();
        // end::builder
        return locks;
    }

    static LockClient withFallback(String url) {
        // tag::fallback
        LockClient locks = LockClient.builder()
                .url(url)
                .fallback(Fallback.thisJvmOnly().after(Duration.ofSeconds(3)))
                .connect();
        // end::fallback
        return locks;
    }

    static LockClient withoutDeadlocks(String url, Meters meters) {
        // tag::deadlocks
        LockClient locks = LockClient.builder()
                .url(url)
                .deadlocks(DeadlockPolicy.FAIL)
                .listener(new LockListener() {
                    @Override
                    public void onDeadlock(Deadlock event) {
                        meters.alert("deadlock: " + event.cycle());
                    }
                })
                .connect();
        // end::deadlocks
        return locks;
    }

    /** Reports what happens to locks to a registry of metrics, and to people. */
    record Watcher(Meters meters) implements LockListener {
        // tag::listener
        @Override
        public void onAcquired(Acquired event) {
            meters.time("lock.wait", event.waited());
        }

        @Override
        public void onReleased(Released event) {
            meters.time("lock.held", event.held());
        }

        @Override
        public void onLost(Lost event) {
            meters.alert("lost " + event.lockName() + ": " + event.reason());
        }
        // end::listener
    }

    /** A registry of metrics. */
    interface Meters {
        void time(String name, Duration duration);

        void alert(String text);
    }

    void operators() {
        // tag::operators
        for (LockInfo info : locks.list("order:")) {
            info.holders().forEach(entry -> System.out.println(info.name() + " is held by " + entry.holder()));
        }
        for (LockInfo.Entry holder : locks.inspect("order:42").holders()) {
            // The holder is notified, and may still be at work. If another holds the lock by now, nothing happens.
            if (!locks.forceRelease("order:42", holder.token().orElseThrow())) {
                System.out.println("It has changed hands.");
            }
        }
        // end::operators
    }

    /** The data that the locks protect. */
    interface Shop {
        void ship(int order);

        void ship(int order, long token);

        CompletableFuture<Void> shipLater(int order, long token);

        void tellBusy(int order);

        int nextNumber(long token);

        void report(long token);

        boolean hasMore();

        void importNext(long token);

        void stopImport();

        void showPrices();

        void setPrices(long token);

        void transfer(int from, int to, long fromToken, long toToken);

        void callSlowService();

        void importShard(int shard, long token);

        void runNextJob(long token);
    }
}
