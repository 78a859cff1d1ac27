package dev.lockstep.spring.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockOptions;
import dev.lockstep.servers.PostgresServer;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.SqlServer;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Primary;
import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.integration.leader.Context;
import org.springframework.integration.leader.DefaultCandidate;
import org.springframework.integration.support.leader.LockRegistryLeaderInitiator;
import org.springframework.integration.support.locks.DefaultLockRegistry;
import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** Two instances of a service with Spring Integration, each with a client of its own, on real engines. */
@SuppressWarnings({"rawtypes", "unchecked"})
@Timeout(120)
class LockstepLockRegistryTest {
    static class Meanwhile {
        // tag::migrate-registry-both
        @Bean
        @Primary // so whatever asks for a LockRegistry gets this one
        LockRegistry locks(LockClient client, LockRegistry old) { // such as a RedisLockRegistry
            return new LockstepLockRegistry(client).alongside(old);
        }
        // end::migrate-registry-both
    }

    static class After {
        // tag::migrate-registry
        @Bean
        LockRegistry locks(LockClient client) {
            return new LockstepLockRegistry(client);
        }
        // end::migrate-registry
    }

    private static RedisServer redis;
    private static PostgresServer postgres;

    @BeforeAll
    static void start() {
        Awaitility.setDefaultTimeout(Duration.ofSeconds(20)); // a busy machine takes long
        redis = Servers.require(() -> RedisServer.builder().start());
        postgres = Servers.require(() -> PostgresServer.builder().start());
    }

    @AfterAll
    static void stop() {
        if (postgres != null) {
            postgres.close();
        }
        if (redis != null) {
            redis.close();
        }
    }

    private static LockClient connect(String engine) {
        return LockClient.builder()
                .url(
                        engine.equals("redis")
                                ? "redis://127.0.0.1:" + redis.port()
                                : postgres.jdbcUrl() + "?user=" + SqlServer.USER + "&password=lock%26step"
                                        + "&lockstep.createSchema=true")
                .ttl(Duration.ofSeconds(15))
                .connect();
    }

    private static <T> T elsewhere(Callable<T> work) throws Exception {
        CompletableFuture<T> result = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                result.complete(work.call());
            } catch (Exception | Error e) {
                result.completeExceptionally(e);
            }
        });
        thread.start();
        try {
            return result.get();
        } catch (ExecutionException e) {
            throw e.getCause() instanceof Exception cause ? cause : e;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"redis", "postgresql"})
    void instancesExcludeEachOther(String engine) throws Throwable {
        try (LockClient one = connect(engine);
                LockClient two = connect(engine)) {
            LockRegistry mine = new LockstepLockRegistry(one);
            LockRegistry other = new LockstepLockRegistry(two);
            UUID key = UUID.randomUUID();
            mine.executeLocked(key, () -> {
                assertThat(one.inspect(key.toString()).isFree()).isFalse();
                assertThat(other.obtain(key.toString()).tryLock()).isFalse();
                assertThat(other.obtain(key).tryLock(50, TimeUnit.MILLISECONDS)).isFalse();
                Lock again = mine.obtain(key);
                assertThat(again.tryLock()).as("reentrant").isTrue();
                again.unlock();
            });
            other.executeLocked(key, Duration.ofSeconds(20), () -> {});
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"redis", "postgresql"})
    void springIntegrationElectsOneLeader(String engine) throws Exception {
        try (LockClient one = connect(engine);
                LockClient two = connect(engine)) {
            LockRegistryLeaderInitiator first = initiator(new LockstepLockRegistry(one), "first");
            LockRegistryLeaderInitiator second = initiator(new LockstepLockRegistry(two), "second");
            first.start();
            await().atMost(Duration.ofSeconds(20))
                    .until(() -> first.getContext().isLeader());
            second.start();
            try {
                await().during(Duration.ofMillis(500)).until(() -> leaders(first, second) == 1);
                first.getContext().yield();
                await().atMost(Duration.ofSeconds(20))
                        .until(() -> second.getContext().isLeader()
                                && !first.getContext().isLeader());
                // The leader loses its lock, steps down, and a candidate leads again.
                assertThat(two.forceRelease("cluster")).isTrue();
                await().atMost(Duration.ofSeconds(20))
                        .until(() -> leaders(first, second) == 1
                                && !two.inspect("cluster").isFree());
                second.stop();
                await().atMost(Duration.ofSeconds(20))
                        .until(() -> first.getContext().isLeader());
            } finally {
                second.stop();
                first.stop();
            }
            await().atMost(Duration.ofSeconds(20))
                    .until(() -> one.inspect("cluster").isFree());
        }
    }

    private static LockRegistryLeaderInitiator initiator(LockRegistry registry, String id) {
        LockRegistryLeaderInitiator initiator =
                new LockRegistryLeaderInitiator(registry, new DefaultCandidate(id, "cluster"));
        initiator.setHeartBeatMillis(50);
        initiator.setBusyWaitMillis(50);
        return initiator;
    }

    private static int leaders(LockRegistryLeaderInitiator... all) {
        int leaders = 0;
        for (LockRegistryLeaderInitiator one : all) {
            Context context = one.getContext();
            leaders += context.isLeader() ? 1 : 0;
        }
        return leaders;
    }

    @Test
    void renewalChecksTheHoldAndTimesToLiveAreNotNeeded() throws Exception {
        try (LockClient client = LockClient.connect("memory:")) {
            LockstepLockRegistry registry =
                    new LockstepLockRegistry(client, LockOptions.defaults().fair());
            assertThatThrownBy(() -> registry.renewLock("a"))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("'a'");
            DistributedLock lock = (DistributedLock) registry.obtain("a");
            lock.lock(Duration.ofMillis(1));
            assertThat(elsewhere(() -> lock.tryLock(Duration.ofMillis(20), Duration.ofMillis(1))))
                    .isFalse();
            Duration forever = ChronoUnit.FOREVER.getDuration();
            assertThat(lock.tryLock(forever, forever)).isTrue();
            lock.unlock();
            registry.renewLock("a");
            registry.renewLock("a", Duration.ofSeconds(1));
            registry.expireUnusedOlderThan(0);
            lock.unlock();
            assertThat(client.inspect("a").isFree()).isTrue();
            assertThatThrownBy(() -> registry.obtain(new Object()))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("String");
        }
    }

    @Test
    void anyOldLockCanBeHeldAroundANewOne() throws Exception {
        try (LockClient locks = LockClient.connect("memory:")) {
            Lock old = new ReentrantLock();
            Runnable work = () -> assertThat(locks.inspect("order:42").isFree()).isFalse();
            // tag::migrate-by-hand
            old.lock();
            try (Lease lease = locks.lock("order:42").acquire()) {
                work.run();
            } finally {
                old.unlock();
            }
            // end::migrate-by-hand
            assertThat(locks.inspect("order:42").isFree()).isTrue();
        }
    }

    @Test
    void duringAMigrationBothLocksCount() throws Exception {
        DriverManagerDataSource database =
                new DriverManagerDataSource(postgres.jdbcUrl(), SqlServer.USER, SqlServer.PASSWORD);
        new JdbcTemplate(database)
                .execute("create table int_lock(lock_key char(36) not null, region varchar(100) not null,"
                        + " client_id char(36), created_date timestamp not null, expired_after timestamp not null,"
                        + " primary key (lock_key, region))");
        DefaultLockRepository repository = new DefaultLockRepository(database);
        repository.setTransactionManager(new DataSourceTransactionManager(database));
        repository.afterPropertiesSet();
        repository.afterSingletonsInstantiated();
        repository.start();
        LockRegistry before = new JdbcLockRegistry(repository);
        try (LockClient client = connect("redis")) {
            LockRegistry meanwhile = new Meanwhile().locks(client, before);
            LockRegistry after = new After().locks(client);
            excludes(before, meanwhile);
            excludes(meanwhile, before);
            excludes(meanwhile, after);
            excludes(after, meanwhile);
        } finally {
            repository.stop();
        }
    }

    private static void excludes(LockRegistry holder, LockRegistry other) throws Exception {
        Lock held = holder.obtain("both");
        held.lock();
        assertThat(elsewhere(() -> other.obtain("both").tryLock())).isFalse();
        assertThat(elsewhere(() -> other.obtain("both").tryLock(50, TimeUnit.MILLISECONDS)))
                .isFalse();
        held.unlock();
        elsewhere(() -> {
            Lock free = other.obtain("both");
            assertThat(free.tryLock(20, TimeUnit.SECONDS)).isTrue();
            free.unlock();
            return null;
        });
    }

    /** The application's bean of the old lock, and what asks for a registry. */
    static class Before {
        @Bean
        LockRegistry jdbcLocks() {
            return new DefaultLockRegistry();
        }
    }

    record Consumer(LockRegistry registry) {}

    static class Application {
        @Bean
        LockClient client() {
            return LockClient.connect("memory:");
        }

        @Bean
        Consumer consumer(LockRegistry registry) {
            return new Consumer(registry);
        }
    }

    @Test
    void theBeansOfEachReleaseStart() {
        try (AnnotationConfigApplicationContext context =
                new AnnotationConfigApplicationContext(Application.class, Before.class, Meanwhile.class)) {
            LockRegistry both = context.getBean(Consumer.class).registry();
            assertThat(both).isSameAs(context.getBean("locks"));
            Lock lock = both.obtain("order");
            lock.lock();
            assertThat(context.getBean(LockClient.class).inspect("order").isFree())
                    .isFalse();
            lock.unlock();
        }
        try (AnnotationConfigApplicationContext context =
                new AnnotationConfigApplicationContext(Application.class, After.class)) {
            assertThat(context.getBean(Consumer.class).registry()).isInstanceOf(LockstepLockRegistry.class);
        }
    }
}
