package dev.lockstep.spring.boot;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockLostAfterWorkException;
import dev.lockstep.LockLostException;
import dev.lockstep.LockOptions;
import dev.lockstep.LockTemplate;
import dev.lockstep.LockTimeoutException;
import dev.lockstep.LossReason;
import dev.lockstep.annotation.Locked;
import dev.lockstep.servers.PostgresServer;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.SqlServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration;
import org.springframework.boot.autoconfigure.jdbc.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.autoconfigure.jdbc.JdbcTemplateAutoConfiguration;
import org.springframework.boot.autoconfigure.transaction.TransactionAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Locks on Redis and PostgreSQL around transactions on real databases, in two instances of a service. */
@Timeout(120)
class TransactionsOnEnginesTest {
    private static final Duration SOON = Duration.ofSeconds(20); // a busy machine takes long

    private final List<AutoCloseable> servers = new ArrayList<>();
    private final List<ConfigurableApplicationContext> instances = new ArrayList<>();

    static class Store {
        private final JdbcTemplate jdbc;
        private final LockClient locks;

        Store(JdbcTemplate jdbc, LockClient locks) {
            this.jdbc = jdbc;
            this.locks = locks;
        }

        @Locked(name = "stock", key = "#item", waitAtMost = "60s")
        @Transactional
        public boolean sell(String item) {
            int left = left(item);
            if (left > 0) {
                jdbc.update("update stock set amount = ? where item = ?", left - 1, item);
            }
            return left > 0;
        }

        int left(String item) {
            return requireNonNull(jdbc.queryForObject("select amount from stock where item = ?", Integer.class, item));
        }

        @Locked(name = "stock", key = "#item")
        @Transactional
        public String loses(String item) {
            assertThat(locks.forceRelease("stock:" + item)).isTrue();
            return "done";
        }

        @Locked(name = "stock", key = "#item", fenced = true)
        public long token(String item, @Nullable Lease lease) {
            return requireNonNull(lease).token();
        }

        @Locked(name = "stock", key = "#item", waitAtMost = "10ms")
        public String impatient(String item) {
            return "ran";
        }

        @Locked(name = "stock", key = "#item", mode = Locked.Mode.READ, waitAtMost = "60s")
        public <T> T read(String item, Callable<T> work) throws Exception {
            return work.call();
        }

        @Locked(name = "stock", key = "#item", fair = true, waitAtMost = "60s")
        public void fair(String item, Runnable work) {
            work.run();
        }

        @Locked(name = "stock", key = "#item", maxHold = "200ms")
        public String slow(String item, @Nullable Lease lease) {
            Awaitility.await().atMost(SOON).until(() -> !requireNonNull(lease).isValid());
            return "done late";
        }

        @Locked(name = "stock", key = "#item", busyMethod = "later")
        public String now(String item) {
            return "now";
        }

        String later(String item) {
            return "later";
        }

        @Locked(name = "stock", key = "#item")
        public CompletionStage<String> stage(String item, CompletableFuture<String> work) {
            return work;
        }

        @Locked(name = "stock", key = "#item")
        public Mono<String> mono(String item, CompletableFuture<String> work) {
            return Mono.fromFuture(work);
        }

        @Locked(name = "stock", key = "#item")
        public Flux<String> flux(String item, CompletableFuture<String> work) {
            return Mono.fromFuture(work).flatMapMany(done -> Flux.just(done, done));
        }

        @Locked(
                name = "stock",
                key = {"#from", "#to"})
        public List<Boolean> held(String from, String to) {
            return List.of(
                    !locks.inspect("stock:" + from).isFree(),
                    !locks.inspect("stock:" + to).isFree());
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({
        LockstepAutoConfiguration.class,
        DataSourceAutoConfiguration.class,
        DataSourceTransactionManagerAutoConfiguration.class,
        JdbcTemplateAutoConfiguration.class,
        TransactionAutoConfiguration.class
    })
    @Import(Store.class)
    static class Service {}

    @AfterEach
    void stop() throws Exception {
        instances.forEach(ConfigurableApplicationContext::close);
        for (AutoCloseable server : servers) {
            server.close();
        }
    }

    private void start(String... properties) {
        for (int i = 0; i < 2; i++) {
            instances.add(new SpringApplicationBuilder(Service.class)
                    .web(WebApplicationType.NONE)
                    .logStartupInfo(false)
                    .properties("spring.main.banner-mode=off")
                    .properties(properties)
                    .run());
        }
        JdbcTemplate jdbc = instances.get(0).getBean(JdbcTemplate.class);
        jdbc.execute("create table stock (item varchar(20) primary key, amount int)");
        jdbc.update("insert into stock values ('phone', 30), ('book', 30)");
    }

    private String redis() {
        RedisServer redis = Servers.require(() -> RedisServer.builder().start());
        servers.add(redis);
        return "lockstep.url=redis://127.0.0.1:" + redis.port();
    }

    private void start(String engine) {
        PostgresServer postgres = Servers.require(() -> PostgresServer.builder().start());
        servers.add(postgres);
        start(
                engine.equals("redis") ? redis() : "lockstep.jdbc.create-schema=true",
                "spring.datasource.url=" + postgres.jdbcUrl(),
                "spring.datasource.username=" + SqlServer.USER,
                "spring.datasource.password=" + SqlServer.PASSWORD,
                "spring.datasource.hikari.maximum-pool-size=20");
    }

    private Store store(int instance) {
        return instances.get(instance).getBean(Store.class);
    }

    private boolean sellInATransaction(int instance, String item) {
        return Boolean.TRUE.equals(instances
                .get(instance)
                .getBean(TransactionTemplate.class)
                .execute(status -> store(instance).sell(item)));
    }

    /** 40 buyers want one of 30 items each, from two instances. */
    private void sells(String item, Callable<Boolean> one, Callable<Boolean> two) throws Exception {
        ExecutorService buyers = Executors.newFixedThreadPool(6);
        List<Future<Boolean>> calls = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            calls.add(buyers.submit(i % 2 == 0 ? one : two));
        }
        int sold = 0;
        for (Future<Boolean> call : calls) {
            sold += call.get() ? 1 : 0;
        }
        buyers.shutdown();
        assertThat(sold).isEqualTo(30);
        assertThat(store(0).left(item)).isZero();
    }

    @Test
    void noMoreIsSoldThanThereIs() throws Exception {
        start(redis(), "spring.datasource.url=jdbc:h2:mem:engines;DB_CLOSE_DELAY=-1");
        sells("phone", () -> store(0).sell("phone"), () -> store(1).sell("phone"));
        sells("book", () -> sellInATransaction(0, "book"), () -> sellInATransaction(1, "book"));
    }

    @Tag("full")
    @ParameterizedTest
    @ValueSource(strings = {"redis", "postgresql"})
    void noMoreIsSoldThanThereIs(String engine) throws Exception {
        start(engine);
        sells("phone", () -> store(0).sell("phone"), () -> store(1).sell("phone"));
        sells("book", () -> sellInATransaction(0, "book"), () -> sellInATransaction(1, "book"));
    }

    @Tag("full")
    @ParameterizedTest
    @ValueSource(strings = {"redis", "postgresql"})
    void aLossReachesTheCaller(String engine) {
        start(engine);
        assertThatThrownBy(() -> store(0).loses("phone"))
                .isInstanceOfSatisfying(
                        LockLostAfterWorkException.class,
                        e -> assertThat(e.result()).isEqualTo("done"));
        // Before the commit, if the holder knows by then, and otherwise after it.
        assertThatThrownBy(() ->
                        instances.get(0).getBean(TransactionTemplate.class).execute(status -> store(0).loses("phone")))
                .isInstanceOf(LockLostException.class);
        assertThat(store(1).sell("phone")).isTrue();
    }

    @Tag("full")
    @ParameterizedTest
    @ValueSource(strings = {"redis", "postgresql"})
    void inATransactionOfTheCallerTheLockIsReleasedAfterIt(String engine) throws Exception {
        start(engine);
        LockClient other = instances.get(1).getBean(LockClient.class);
        LockTemplate template = instances.get(0).getBean(LockTemplate.class);
        instances.get(0).getBean(TransactionTemplate.class).executeWithoutResult(status -> {
            store(0).sell("phone");
            assertThat(other.inspect("stock:phone").isFree()).isFalse();
            try {
                template.execute("other", lease -> "done");
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            assertThat(other.inspect("other").isFree()).isFalse();
        });
        assertThat(other.inspect("stock:phone").isFree()).isTrue();
        assertThat(other.inspect("other").isFree()).isTrue();
    }

    @Tag("full")
    @ParameterizedTest
    @ValueSource(strings = {"redis", "postgresql"})
    void methodsRunUnderTheirLocks(String engine) throws Exception {
        start(engine);
        assertThat(store(0).held("phone", "book")).containsExactly(true, true);
        long token = store(0).token("phone", null);
        assertThat(store(1).token("phone", null)).isGreaterThan(token);
        try (Lease lease =
                instances.get(1).getBean(LockClient.class).lock("stock:phone").acquire()) {
            assertThatThrownBy(() -> store(0).impatient("phone"))
                    .isInstanceOf(LockTimeoutException.class)
                    .hasMessageContaining("is held by");
            assertThat(lease.isValid()).isTrue();
        }
        assertThat(store(0).impatient("phone")).isEqualTo("ran");
        assertThatThrownBy(() -> store(0).sell("")).isInstanceOf(LockConfigurationException.class);
    }

    @Tag("full")
    @ParameterizedTest
    @ValueSource(strings = {"redis", "postgresql"})
    void modesAndTimesOfLocksAreThoseOfTheAnnotation(String engine) throws Exception {
        start(engine);
        LockClient other = instances.get(1).getBean(LockClient.class);
        // Two readers at once, and no writer beside them.
        String both = store(0).read(
                        "phone",
                        () -> store(1).read("phone", () -> {
                            CompletableFuture<String> writer =
                                    CompletableFuture.supplyAsync(() -> store(1).impatient("phone"));
                            assertThatThrownBy(() -> writer.get(20, TimeUnit.SECONDS))
                                    .hasCauseInstanceOf(LockTimeoutException.class);
                            return "both";
                        }));
        assertThat(both).isEqualTo("both");
        assertThatThrownBy(() -> store(0).slow("phone", null))
                .isInstanceOfSatisfying(LockLostAfterWorkException.class, e -> {
                    assertThat(e.result()).isEqualTo("done late");
                    assertThat(e.reason()).isEqualTo(LossReason.MAX_HOLD_REACHED);
                });
        try (Lease lease = other.lock("stock:phone").acquire()) {
            assertThat(store(0).now("phone")).isEqualTo("later");
            assertThat(lease.isValid()).isTrue();
        }
        assertThat(store(0).now("phone")).isEqualTo("now");
    }

    @Tag("full")
    @ParameterizedTest
    @ValueSource(strings = {"redis", "postgresql"})
    void fairCallsOfSeveralInstancesComeFirstServedFirst(String engine) throws Exception {
        start(engine);
        LockClient other = instances.get(1).getBean(LockClient.class);
        List<Integer> served = new CopyOnWriteArrayList<>();
        List<CompletableFuture<Void>> calls = new ArrayList<>();
        ExecutorService callers = Executors.newCachedThreadPool();
        Lease first = other.lock("stock:phone", LockOptions.defaults().fair())
                .acquireAsync()
                .get();
        for (int i = 0; i < 4; i++) {
            int number = i;
            calls.add(CompletableFuture.runAsync(
                    () -> store(number % 2).fair("phone", () -> served.add(number)), callers));
            Awaitility.await()
                    .atMost(SOON)
                    .until(() -> other.inspect("stock:phone").waiters().size() == number + 1);
        }
        first.close();
        CompletableFuture.allOf(calls.toArray(CompletableFuture[]::new)).get(60, TimeUnit.SECONDS);
        callers.shutdown();
        assertThat(served).containsExactly(0, 1, 2, 3);
    }

    @Tag("full")
    @ParameterizedTest
    @ValueSource(strings = {"redis", "postgresql"})
    void workThatEndsLaterIsDoneUnderTheLock(String engine) throws Exception {
        start(engine);
        isHeldUntilItEnds(work -> store(0).stage("phone", work).toCompletableFuture());
        isHeldUntilItEnds(work -> store(0).mono("phone", work).toFuture());
        isHeldUntilItEnds(work -> store(0).flux("phone", work).last().toFuture());
    }

    private void isHeldUntilItEnds(Function<CompletableFuture<String>, CompletableFuture<String>> call)
            throws Exception {
        LockClient other = instances.get(1).getBean(LockClient.class);
        CompletableFuture<String> work = new CompletableFuture<>();
        CompletableFuture<String> result = call.apply(work);
        Awaitility.await()
                .atMost(SOON)
                .until(() -> !other.inspect("stock:phone").isFree());
        assertThat(result).isNotDone();
        work.complete("done");
        assertThat(result.get(20, TimeUnit.SECONDS)).isEqualTo("done");
        Awaitility.await().atMost(SOON).until(() -> other.inspect("stock:phone").isFree());
    }
}
