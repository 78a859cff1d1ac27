package dev.lockstep.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.DeadlockException;
import dev.lockstep.Fallback;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockListener;
import dev.lockstep.LockTemplate;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.annotation.Locked;
import dev.lockstep.servers.PostgresServer;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.SqlServer;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.Backoff;
import dev.lockstep.spring.CallerTransaction;
import dev.lockstep.spring.LockDefaults;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration;
import org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration;
import org.springframework.boot.autoconfigure.jdbc.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.autoconfigure.transaction.TransactionAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import org.springframework.transaction.support.TransactionTemplate;

/** The beans that a Spring Boot application gets, and the ways to change them. */
@Timeout(60)
class LockstepAutoConfigurationTest {
    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(LockstepAutoConfiguration.class, AopAutoConfiguration.class))
            .withBean(Shop.class);

    @Test
    void anApplicationWithoutConfigurationStartsInATest() {
        runner.run(context -> {
            assertThat(context).hasSingleBean(LockClient.class).hasSingleBean(LockTemplate.class);
            assertThat(context.getBean(Shop.class).ship(42)).isEqualTo("order:42");
            String held = context.getBean(LockTemplate.class)
                    .execute("a", lease -> Shop.held(context.getBean(LockClient.class)));
            assertThat(held).isEqualTo("a");
            assertThat(context.getBean(LockDefaults.class)).isEqualTo(LockDefaults.USUAL);
        });
    }

    @Test
    void propertiesAreUsed() {
        runner.withPropertyValues(
                        "lockstep.url=memory:properties",
                        "lockstep.namespace=shop",
                        "lockstep.client-name=till-1",
                        "lockstep.ttl=5s",
                        "lockstep.request-timeout=500ms",
                        "lockstep.retry-backoff.min=1ms",
                        "lockstep.retry-backoff.max=10ms",
                        "lockstep.fallback.to=jvm",
                        "lockstep.fallback.after=1s",
                        "lockstep.deadlocks=fail",
                        "lockstep.record-waits-after=50ms",
                        "lockstep.wait=20ms",
                        "lockstep.transaction=refuse")
                .run(context -> {
                    LockClient locks = context.getBean(LockClient.class);
                    assertThat(locks.name()).isEqualTo("till-1");
                    assertThat(context.getBean(LockDefaults.class).transaction())
                            .isEqualTo(CallerTransaction.REFUSE);
                    assertThat(context.getBean(LockDefaults.class).waitAtMost()).hasMillis(20);
                    try (LockClient same = LockClient.builder()
                                    .url("memory:properties")
                                    .namespace("shop")
                                    .connect();
                            LockClient other = LockClient.connect("memory:properties")) {
                        locks.lock("a").lock();
                        assertThat(same.lock("a").tryLock()).isFalse();
                        assertThat(other.lock("a").tryLock()).isTrue();
                    }
                });
    }

    /** The settings that a backend gets. */
    @Test
    void timesReachTheEngine() {
        runner.withPropertyValues(
                        "lockstep.url=recorded:",
                        "lockstep.ttl=7s",
                        "lockstep.request-timeout=700ms",
                        "lockstep.retry-backoff.min=3ms",
                        "lockstep.retry-backoff.max=40ms")
                .run(context -> assertThat(context.getBean(LockClient.class)).isNotNull());
        BackendContext passed = RecordedProvider.last();
        assertThat(passed.ttl()).hasSeconds(7);
        assertThat(passed.requestTimeout()).hasMillis(700);
        assertThat(passed.retryBackoff()).isEqualTo(new Backoff(Duration.ofMillis(3), Duration.ofMillis(40)));
    }

    @Test
    void theFallbackBeginsAfterTheTimeThatAPropertySays() {
        ClientProperties.FallbackProperties settings = new ClientProperties.FallbackProperties();
        assertThat(ClientFactory.fallback(settings).kind()).isEqualTo(Fallback.Kind.FAIL_FAST);
        settings.setTo("jvm");
        assertThat(ClientFactory.fallback(settings).after()).isEmpty();
        settings.setAfter(Duration.ofSeconds(9));
        assertThat(ClientFactory.fallback(settings).kind()).isEqualTo(Fallback.Kind.THIS_JVM);
        assertThat(ClientFactory.fallback(settings).after()).contains(Duration.ofSeconds(9));
        settings.setTo("memory:other");
        assertThat(ClientFactory.fallback(settings).url()).contains("memory:other");
        assertThat(ClientFactory.fallback(settings).after()).contains(Duration.ofSeconds(9));
    }

    /** Two threads, each with a lock that the other one wants. */
    @Test
    void aDeadlockFailsIfAPropertySaysSo() {
        runner.withPropertyValues("lockstep.url=memory:", "lockstep.deadlocks=fail", "lockstep.record-waits-after=20ms")
                .run(context -> {
                    LockClient locks = context.getBean(LockClient.class);
                    CountDownLatch both = new CountDownLatch(2);
                    CompletableFuture<Boolean> one = CompletableFuture.supplyAsync(() -> fails(locks, both, "a", "b"));
                    CompletableFuture<Boolean> two = CompletableFuture.supplyAsync(() -> fails(locks, both, "b", "a"));
                    assertThat(one.get(50, TimeUnit.SECONDS) ^ two.get(50, TimeUnit.SECONDS))
                            .isTrue();
                });
    }

    private static boolean fails(LockClient locks, CountDownLatch both, String first, String second) {
        locks.lock(first).lock();
        try {
            both.countDown();
            both.await();
            locks.lock(second).lock();
            locks.lock(second).unlock();
            return false;
        } catch (DeadlockException e) {
            return true;
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        } finally {
            locks.lock(first).unlock();
        }
    }

    @Test
    void oneLineSaysWhichEngineIsUsedAndWhy() {
        assertThat(Logs.of(() -> runner.run(context -> assertThat(context).hasNotFailed())))
                .contains(
                        "Lock client 'lockClient': engine memory, chosen by a test without lockstep.url; namespace 'lockstep'.");
        String several = Logs.of(() -> runner.withPropertyValues(
                        "lockstep.url=memory:", "lockstep.namespace=shop", "lockstep.clients.other.url=memory:")
                .run(context -> assertThat(context).hasNotFailed()));
        assertThat(several)
                .containsOnlyOnce("Lock client 'lockClient': engine memory, chosen by lockstep.url; namespace 'shop'.")
                .containsOnlyOnce("Lock client 'other': engine memory, chosen by lockstep.clients.other.url;");
        assertThat(Logs.of(() -> runner.withBean(LockstepConnectionDetails.class, () -> () -> "memory:")
                        .run(context -> assertThat(context).hasNotFailed())))
                .contains("chosen by connection details");
        assertThat(Logs.of(() -> runner.withBean(
                                DataSource.class,
                                () -> new DriverManagerDataSource("jdbc:h2:mem:chosen;DB_CLOSE_DELAY=-1", "sa", ""))
                        .run(context -> assertThat(context).hasNotFailed())))
                .contains("engine sql, chosen by the application's DataSource");
    }

    @Test
    void propertiesThatMakeNoSenseEndTheStart() {
        runner.withPropertyValues("lockstep.url=nothing://host")
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .isInstanceOf(LockConfigurationException.class)
                        .hasMessageContaining("No engine for 'nothing:' is known"));
        runner.withPropertyValues("lockstep.ttl=-1s")
                .run(context -> assertThat(context).hasFailed());
        runner.withPropertyValues("lockstep.jdbc.use-data-source=true")
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining("the application has no DataSource"));
    }

    @Test
    void anApplicationsOwnClientIsUsedInstead() {
        try (LockClient own = LockClient.connect("memory:")) {
            runner.withBean("own", LockClient.class, () -> own).run(context -> {
                assertThat(context).getBean(LockClient.class).isSameAs(own);
                assertThat(context).hasSingleBean(LockTemplate.class);
                assertThat(context.getBean(Shop.class).ship(1)).isEqualTo("order:1");
            });
        }
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(LockstepAutoConfiguration.class))
                .withPropertyValues("lockstep.enabled=false")
                .run(context -> assertThat(context).doesNotHaveBean(LockClient.class));
    }

    @Configuration(proxyBeanMethods = false)
    static class Extras {
        static final List<String> customized = new ArrayList<>();
        static final List<String> heard = new ArrayList<>();

        @Bean
        LockClientCustomizer customizer() {
            return (name, builder) -> {
                customized.add(name);
                builder.clientName("by-customizer").executor(Runnable::run);
            };
        }

        @Bean
        LockListener listener() {
            return new LockListener() {
                @Override
                public void onAcquired(Acquired event) {
                    heard.add(event.lockName());
                }
            };
        }
    }

    @Test
    void customizersAndListenersAreBeans() {
        runner.withUserConfiguration(Extras.class).run(context -> {
            assertThat(context.getBean(LockClient.class).name()).isEqualTo("by-customizer");
            context.getBean(Shop.class).ship(7);
            assertThat(Extras.customized).containsExactly("lockClient");
            assertThat(Extras.heard).containsExactly("order:7");
        });
    }

    /** Lets a client use an executor of the application, which records when it ends. */
    @Configuration(proxyBeanMethods = false)
    static class Executors {
        static final AtomicReference<LockClient> client = new AtomicReference<>();
        static final List<String> ended = new CopyOnWriteArrayList<>();

        @Bean
        ThreadPoolTaskExecutor executor() {
            return new ThreadPoolTaskExecutor() {
                private static final long serialVersionUID = 1L;

                @Override
                public void shutdown() {
                    try {
                        Objects.requireNonNull(client.get()).inspect("a");
                        ended.add("before the client");
                    } catch (IllegalStateException e) {
                        ended.add("after the client");
                    }
                    super.shutdown();
                }
            };
        }

        @Bean
        LockClientCustomizer customizer(ThreadPoolTaskExecutor executor) {
            return (name, builder) -> builder.executor(executor);
        }
    }

    @Test
    void anExecutorThatACustomizerGivesToAClientEndsAfterIt() {
        Executors.ended.clear();
        runner.withUserConfiguration(Executors.class)
                .run(context -> Executors.client.set(context.getBean(LockClient.class)));
        assertThat(Executors.ended).containsExactly("after the client");
    }

    @Test
    void connectionDetailsTakeTheUrlsPlace() {
        runner.withPropertyValues("lockstep.url=redis://nowhere.invalid")
                .withBean(LockstepConnectionDetails.class, () -> () -> "memory:")
                .run(context -> assertThat(context.getBean(Shop.class).ship(1)).isEqualTo("order:1"));
    }

    static class OtherShop {
        @Locked(name = "a", client = "reports")
        public String run(LockClient locks) {
            return Shop.held(locks);
        }
    }

    @Test
    void severalClientsAreBeansByName() {
        runner.withBean(OtherShop.class)
                .withPropertyValues(
                        "lockstep.url=memory:",
                        "lockstep.clients.reports.url=memory:",
                        "lockstep.clients.reports.client-name=reporter")
                .run(context -> {
                    assertThat(context.getBeanNamesForType(LockClient.class))
                            .containsExactlyInAnyOrder("lockClient", "reports");
                    LockClient reports = context.getBean("reports", LockClient.class);
                    assertThat(reports.name()).isEqualTo("reporter");
                    assertThat(context.getBean(OtherShop.class).run(reports)).isEqualTo("a");
                    assertThat(context.getBean(OtherShop.class).run(context.getBean(LockClient.class)))
                            .isEmpty();
                    assertThat(context.getBean(Shop.class).ship(1)).isEqualTo("order:1");
                });
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(LockstepAutoConfiguration.class))
                .withPropertyValues("lockstep.clients.one.url=memory:", "lockstep.clients.two.url=memory:")
                .run(context -> assertThat(context.getBeanNamesForType(LockClient.class))
                        .containsExactlyInAnyOrder("one", "two"));
        runner.withPropertyValues("lockstep.url=memory:", "lockstep.clients.reports.ttl=1s")
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessage("lockstep.clients.reports.url is not set."));
    }

    @Test
    void aServiceWithALazyClientStartsWithoutItsEngine() {
        String[] unreachable = {"lockstep.url=redis://127.0.0.1:1", "lockstep.request-timeout=200ms"};
        runner.withPropertyValues(unreachable)
                .run(context -> assertThat(context).getFailure().rootCause().isNotNull());
        runner.withPropertyValues(unreachable)
                .withPropertyValues("lockstep.lazy-connect=true")
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThatThrownBy(() -> context.getBean(Shop.class).ship(1))
                            .isInstanceOf(LockUnavailableException.class);
                });
    }

    @Test
    void theApplicationsRedisIsUsed() {
        try (RedisServer server = Servers.require(
                () -> RedisServer.builder().password("pass/w%rd@:x").start())) {
            runner.withConfiguration(AutoConfigurations.of(RedisAutoConfiguration.class))
                    .withPropertyValues(
                            "lockstep.jdbc.use-data-source=false",
                            "spring.data.redis.host=127.0.0.1",
                            "spring.data.redis.port=" + server.port(),
                            "spring.data.redis.password=pass/w%rd@:x",
                            "spring.data.redis.database=3")
                    .run(context -> {
                        assertThat(context.getBean(LockClient.class).describe().product())
                                .containsPattern("Redis|Valkey");
                        assertThat(context.getBean(Shop.class).ship(42)).isEqualTo("order:42");
                    });
        }
    }

    @Test
    void theUrlComesBeforeTheDataSourceAndThatBeforeRedis() {
        try (RedisServer server = Servers.require(() -> RedisServer.builder().start())) {
            ApplicationContextRunner both = runner.withBean(DataSource.class, () -> h2("both"))
                    .withConfiguration(AutoConfigurations.of(RedisAutoConfiguration.class))
                    .withPropertyValues("spring.data.redis.host=127.0.0.1", "spring.data.redis.port=" + server.port());
            both.run(context -> assertThat(product(context)).contains("H2"));
            both.withPropertyValues("lockstep.jdbc.use-data-source=true")
                    .run(context -> assertThat(product(context)).contains("H2"));
            both.withPropertyValues("lockstep.jdbc.use-data-source=false")
                    .run(context -> assertThat(product(context)).containsPattern("Redis|Valkey"));
            both.withPropertyValues("lockstep.url=memory:", "lockstep.jdbc.use-data-source=true")
                    .run(context -> assertThat(product(context)).containsIgnoringCase("memory"));
        }
    }

    private static String product(ApplicationContext context) {
        return context.getBean(LockClient.class).describe().product();
    }

    /** Not only a URL says that there is a default client beside those with names. */
    @Test
    void aDefaultClientBesideOthersHasItsEngineFromConnectionDetailsOrTheDataSource() {
        ApplicationContextRunner named =
                runner.withPropertyValues("lockstep.clients.one.url=memory:", "lockstep.clients.two.url=memory:");
        named.withBean(LockstepConnectionDetails.class, () -> () -> "memory:details")
                .run(context -> {
                    assertThat(context.getBeanNamesForType(LockClient.class))
                            .containsExactlyInAnyOrder("lockClient", "one", "two");
                    assertThat(context.getBean(Shop.class).ship(1)).isEqualTo("order:1");
                });
        named.withBean(DataSource.class, () -> h2("beside"))
                .withPropertyValues("lockstep.jdbc.use-data-source=true")
                .run(context -> {
                    assertThat(context.getBean(LockClient.class).describe().product())
                            .contains("H2");
                    assertThat(context).hasSingleBean(LockTemplate.class);
                });
        // A DataSource alone does not ask for one.
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(LockstepAutoConfiguration.class))
                .withPropertyValues("lockstep.clients.one.url=memory:", "lockstep.clients.two.url=memory:")
                .withBean(DataSource.class, () -> h2("unused"))
                .run(context -> assertThat(context.getBeanNamesForType(LockClient.class))
                        .containsExactlyInAnyOrder("one", "two"));
    }

    @Test
    void theApplicationsDataSourceIsUsed() {
        try (PostgresServer server =
                Servers.require(() -> PostgresServer.builder().start())) {
            String log = Logs.of(() -> runner.withConfiguration(AutoConfigurations.of(
                            DataSourceAutoConfiguration.class,
                            DataSourceTransactionManagerAutoConfiguration.class,
                            TransactionAutoConfiguration.class))
                    .withPropertyValues(
                            "lockstep.jdbc.create-schema=true",
                            "spring.datasource.url=" + server.jdbcUrl(),
                            "spring.datasource.username=" + SqlServer.USER,
                            "spring.datasource.password=" + SqlServer.PASSWORD)
                    .run(context -> {
                        assertThat(context.getBean(LockClient.class).describe().product())
                                .contains("PostgreSQL");
                        assertThat(context.getBean(Shop.class).ship(42)).isEqualTo("order:42");
                        // In a transaction of the caller, the lock is held until that ends.
                        LockClient locks = context.getBean(LockClient.class);
                        context.getBean(TransactionTemplate.class).executeWithoutResult(status -> {
                            context.getBean(Shop.class).ship(43);
                            assertThat(Shop.held(locks)).isEqualTo("order:43");
                        });
                        assertThat(Shop.held(locks)).isEmpty();
                    }));
            assertThat(log).as("the pool, when the application ends").doesNotContain("marked as broken");
        }
    }

    private static DataSource h2(String name) {
        return new DriverManagerDataSource("jdbc:h2:mem:" + name + ";DB_CLOSE_DELAY=-1", "sa", "");
    }

    /** Otherwise the lock's commit would also commit what the application has written, or the lock would be rolled back with it. */
    @Test
    void aDataSourceThatJoinsTransactionsDoesNotJoinThemForLocks() {
        try (PostgresServer server =
                Servers.require(() -> PostgresServer.builder().start())) {
            DataSource plain = new DriverManagerDataSource(server.jdbcUrl(), SqlServer.USER, SqlServer.PASSWORD);
            runner.withBean(DataSource.class, () -> new TransactionAwareDataSourceProxy(plain))
                    .withPropertyValues("lockstep.jdbc.create-schema=true")
                    .run(context -> {
                        LockClient locks = context.getBean(LockClient.class);
                        JdbcTemplate jdbc = new JdbcTemplate(plain);
                        jdbc.execute("create table sold(item varchar(10))");
                        TransactionTemplate rollback = new TransactionTemplate(new DataSourceTransactionManager(plain));
                        rollback.executeWithoutResult(status -> {
                            jdbc.update("insert into sold values ('phone')");
                            locks.lock("a").lock();
                            status.setRollbackOnly();
                        });
                        assertThat(Shop.held(locks)).isEqualTo("a");
                        assertThat(jdbc.queryForList("select * from sold")).isEmpty();
                        locks.lock("a").unlock();
                    });
        }
    }

    @Test
    void aDataSourceThatSelectsADatabaseForEachCallIsRefused() {
        AbstractRoutingDataSource tenants = new AbstractRoutingDataSource() {
            @Override
            protected Object determineCurrentLookupKey() {
                return "any";
            }
        };
        tenants.setTargetDataSources(Map.of());
        tenants.setDefaultTargetDataSource(h2("tenants"));
        runner.withBean(DataSource.class, () -> tenants)
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .isInstanceOf(NoEngineException.class)
                        .hasMessageContaining("selects a database for each call"));
        runner.withBean(DataSource.class, () -> tenants)
                .withPropertyValues("lockstep.url=memory:")
                .run(context -> assertThat(context).hasNotFailed());
    }
}
