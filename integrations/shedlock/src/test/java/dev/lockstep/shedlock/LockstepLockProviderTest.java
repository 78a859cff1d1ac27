package dev.lockstep.shedlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.lockstep.LockClient;
import dev.lockstep.LockLostException;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.servers.PostgresServer;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.SqlServer;
import dev.lockstep.servers.TcpProxy;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import net.javacrumbs.shedlock.core.DefaultLockingTaskExecutor;
import net.javacrumbs.shedlock.core.LockAssert;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockExtender;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import net.javacrumbs.shedlock.support.KeepAliveLockProvider;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** Two instances of a service with ShedLock, each with a client of its own, on real engines. */
@Timeout(60)
class LockstepLockProviderTest {
    static class Meanwhile {
        // tag::migrate-provider-both
        @Bean
        @Primary // so whatever asks for a LockProvider gets this one
        LockProvider lockProvider(LockClient client, LockProvider old) { // such as a JdbcTemplateLockProvider
            return new LockstepLockProvider(client).alongside(old);
        }
        // end::migrate-provider-both
    }

    static class After {
        // tag::migrate-provider
        @Bean
        LockProvider lockProvider(LockClient client) {
            return new LockstepLockProvider(client);
        }
        // end::migrate-provider
    }

    private static RedisServer redis;
    private static PostgresServer postgres;

    @BeforeAll
    static void start() {
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

    private static String url(String engine) {
        return engine.equals("redis")
                ? "redis://127.0.0.1:" + redis.port()
                : postgres.jdbcUrl() + "?user=" + SqlServer.USER + "&password=lock%26step"
                        + "&lockstep.createSchema=true";
    }

    private static LockConfiguration job(String name, Duration atLeast) {
        return new LockConfiguration(Instant.now(), name, Duration.ofMinutes(10), atLeast);
    }

    @ParameterizedTest
    @ValueSource(strings = {"redis", "postgresql"})
    void oneInstanceRunsATask(String engine) throws Throwable {
        try (LockClient one = LockClient.connect(url(engine));
                LockClient two = LockClient.connect(url(engine))) {
            LockProvider other = new LockstepLockProvider(two);
            AtomicInteger runs = new AtomicInteger();
            new DefaultLockingTaskExecutor(new LockstepLockProvider(one))
                    .executeWithLock(
                            (Runnable) () -> {
                                LockAssert.assertLocked();
                                new DefaultLockingTaskExecutor(other)
                                        .executeWithLock((Runnable) runs::incrementAndGet, job("other", Duration.ZERO));
                                assertThat(other.lock(job("report", Duration.ZERO)))
                                        .isEmpty();
                                assertThat(new LockstepLockProvider(one).lock(job("report", Duration.ZERO)))
                                        .as("not reentrant")
                                        .isEmpty();
                                runs.incrementAndGet();
                            },
                            job("report", Duration.ZERO));
            assertThat(runs).hasValue(2);
            Optional<SimpleLock> free = other.lock(job("report", Duration.ZERO));
            assertThat(free).isPresent();
            free.get().unlock();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"redis", "postgresql"})
    void aShortTaskKeepsItsLockForTheMinimum(String engine) throws Exception {
        try (LockClient one = LockClient.connect(url(engine));
                LockClient two = LockClient.connect(url(engine))) {
            Duration minimum = Duration.ofMillis(600);
            long start = System.nanoTime();
            new LockstepLockProvider(one)
                    .lock(job("short", minimum))
                    .orElseThrow()
                    .unlock();
            two.lock("short").acquire().close();
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThan(minimum.minusMillis(50));
        }
    }

    @Test
    void anExtensionHasItsOwnMinimum() throws Exception {
        try (LockClient one = LockClient.connect(url("redis"));
                LockClient two = LockClient.connect(url("redis"))) {
            SimpleLock lock = new LockstepLockProvider(one)
                    .lock(job("extended", Duration.ZERO))
                    .orElseThrow();
            long start = System.nanoTime();
            SimpleLock longer =
                    lock.extend(Duration.ofMinutes(1), Duration.ofMillis(500)).orElseThrow();
            assertThatThrownBy(lock::unlock).isInstanceOf(IllegalStateException.class);
            longer.unlock();
            two.lock("extended").acquire().close();
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThan(Duration.ofMillis(450));
        }
    }

    @Test
    void shedLocksKeepAliveAndExtenderWork() throws Throwable {
        ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
        try (LockClient one = LockClient.connect(url("redis"))) {
            LockstepLockProvider provider = new LockstepLockProvider(one);
            LockConfiguration configuration =
                    new LockConfiguration(Instant.now(), "kept", Duration.ofSeconds(30), Duration.ofMillis(1));
            SimpleLock kept = new KeepAliveLockProvider(provider, timer)
                    .lock(configuration)
                    .orElseThrow();
            kept.unlock();
            new DefaultLockingTaskExecutor(provider)
                    .executeWithLock(
                            (Runnable) () -> LockExtender.extendActiveLock(Duration.ofHours(1), Duration.ZERO),
                            job("kept-2", Duration.ZERO));
            assertThat(one.inspect("kept-2").isFree()).isTrue();
        } finally {
            timer.shutdownNow();
        }
    }

    @Test
    void aLossIsThrownAndAnExtensionOfALostLockIsEmpty() {
        try (LockClient one = LockClient.connect("memory:")) {
            LockstepLockProvider provider = new LockstepLockProvider(one);
            SimpleLock lock = provider.lock(job("lost", Duration.ZERO)).orElseThrow();
            assertThat(one.forceRelease("lost")).isTrue();
            assertThatThrownBy(lock::unlock).isInstanceOf(LockLostException.class);
            SimpleLock another = provider.lock(job("lost", Duration.ZERO)).orElseThrow();
            assertThat(one.forceRelease("lost")).isTrue();
            assertThat(another.extend(Duration.ofMinutes(1), Duration.ZERO)).isEmpty();
        }
    }

    @Test
    void anUnreachableEngineIsAnExceptionAndNotASkippedTask() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(redis.port());
                LockClient one = LockClient.builder()
                        .url("redis://127.0.0.1:" + proxy.port())
                        .requestTimeout(Duration.ofSeconds(10))
                        .connect()) {
            proxy.blackHole();
            assertThatThrownBy(() -> new LockstepLockProvider(one).lock(job("away", Duration.ZERO)))
                    .isInstanceOf(LockUnavailableException.class);
            proxy.heal();
        }
    }

    @Test
    void duringAMigrationBothLocksCount() throws Exception {
        DriverManagerDataSource database =
                new DriverManagerDataSource(postgres.jdbcUrl(), SqlServer.USER, SqlServer.PASSWORD);
        new JdbcTemplate(database)
                .execute(
                        "create table if not exists shedlock(name varchar(64) primary key, lock_until timestamp not null,"
                                + " locked_at timestamp not null, locked_by varchar(255) not null)");
        LockProvider before = new JdbcTemplateLockProvider(database);
        try (LockClient client = LockClient.connect(url("redis"))) {
            LockProvider meanwhile = new Meanwhile().lockProvider(client, before);
            LockProvider after = new After().lockProvider(client);
            excludes(before, meanwhile);
            excludes(meanwhile, before);
            excludes(meanwhile, after);
            excludes(after, meanwhile);
            SimpleLock both = meanwhile.lock(job("both", Duration.ZERO)).orElseThrow();
            both.extend(Duration.ofMinutes(1), Duration.ZERO).orElseThrow().unlock();
            excludes(before, meanwhile);
        }
    }

    private static void excludes(LockProvider holder, LockProvider other) {
        SimpleLock held = holder.lock(job("both", Duration.ZERO)).orElseThrow();
        assertThat(other.lock(job("both", Duration.ZERO))).isEmpty();
        held.unlock();
        other.lock(job("both", Duration.ZERO)).orElseThrow().unlock();
    }

    /** The application's bean of the old lock. */
    static class Before {
        @Bean
        DataSource database() {
            return new DriverManagerDataSource(postgres.jdbcUrl(), SqlServer.USER, SqlServer.PASSWORD);
        }

        @Bean
        LockProvider jdbcLocks(DataSource database) {
            return new JdbcTemplateLockProvider(database);
        }
    }

    static class Job {
        int runs;

        @SchedulerLock(name = "annotated", lockAtLeastFor = "1ms")
        public void run(Runnable work) {
            LockAssert.assertLocked();
            runs++;
            work.run();
        }
    }

    @EnableSchedulerLock(defaultLockAtMostFor = "10m")
    static class Application {
        @Bean
        LockClient client() {
            return LockClient.connect(url("redis"));
        }

        @Bean
        Job job() {
            return new Job();
        }
    }

    private static int runs(Job proxy) {
        return ((Job) AopProxyUtils.getSingletonTarget(proxy)).runs;
    }

    /** ShedLock lets a thread enter its own lock again. */
    private static void inAnotherThread(Runnable task) {
        CompletableFuture.runAsync(task).join();
    }

    @Test
    void annotatedTasksRunOnceInEachRelease() {
        new JdbcTemplate(new DriverManagerDataSource(postgres.jdbcUrl(), SqlServer.USER, SqlServer.PASSWORD))
                .execute(
                        "create table if not exists shedlock(name varchar(64) primary key, lock_until timestamp not null,"
                                + " locked_at timestamp not null, locked_by varchar(255) not null)");
        try (AnnotationConfigApplicationContext two =
                        new AnnotationConfigApplicationContext(Application.class, Before.class, Meanwhile.class);
                AnnotationConfigApplicationContext three =
                        new AnnotationConfigApplicationContext(Application.class, After.class)) {
            Job meanwhile = two.getBean(Job.class);
            Job after = three.getBean(Job.class);
            meanwhile.run(() -> inAnotherThread(() -> after.run(() -> {})));
            assertThat(runs(meanwhile)).isEqualTo(1);
            assertThat(runs(after)).as("busy, so skipped").isZero();
            await().atMost(Duration.ofSeconds(20)).until(() -> {
                after.run(() -> inAnotherThread(() -> meanwhile.run(() -> {}))); // free after its minimum
                return runs(after) == 1;
            });
            assertThat(runs(meanwhile)).isEqualTo(1);
        }
    }
}
