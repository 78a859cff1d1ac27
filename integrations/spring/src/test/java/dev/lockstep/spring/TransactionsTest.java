package dev.lockstep.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockLostAfterWorkException;
import dev.lockstep.LockLostException;
import dev.lockstep.LockOptions;
import dev.lockstep.LockTemplate;
import dev.lockstep.annotation.Locked;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.concurrent.ConcurrentMapCacheManager;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;

/** A lock and a transaction around the same work. */
@Timeout(60)
class TransactionsTest {
    private static final String LOCK = "stock";

    /** Records whether the lock is held when transactions begin and end. */
    static class Manager extends DataSourceTransactionManager {
        private static final long serialVersionUID = 1L;

        final List<String> events = new ArrayList<>();
        private final transient LockClient locks;
        transient @Nullable Runnable duringCommit;

        Manager(DataSource source, LockClient locks) {
            super(source);
            this.locks = locks;
        }

        private synchronized void record(String event) {
            events.add(event + (locks.inspect(LOCK).isFree() ? " free" : " held"));
        }

        @Override
        protected void doBegin(Object transaction, TransactionDefinition definition) {
            record("begin");
            super.doBegin(transaction, definition);
        }

        @Override
        protected void doCommit(DefaultTransactionStatus status) {
            record("commit");
            super.doCommit(status);
            if (duringCommit != null) {
                duringCommit.run();
            }
        }

        @Override
        protected void doRollback(DefaultTransactionStatus status) {
            record("rollback");
            super.doRollback(status);
        }
    }

    static class Database {
        @Bean
        DataSource source() {
            return new DriverManagerDataSource("jdbc:h2:mem:tx;DB_CLOSE_DELAY=-1", "sa", "");
        }

        @Bean
        JdbcTemplate jdbc(DataSource source) {
            return new JdbcTemplate(source);
        }

        @Bean
        Manager transactionManager(DataSource source, LockClient locks) {
            return new Manager(source, locks);
        }

        @Bean
        TransactionTemplate transactions(PlatformTransactionManager manager) {
            return new TransactionTemplate(manager);
        }

        @Bean
        LockTemplate template(LockClient locks) {
            return new TransactionalLockTemplate(locks, LockOptions.defaults(), LockDefaults.USUAL);
        }

        @Bean
        CacheManager caches() {
            return new ConcurrentMapCacheManager();
        }

        @Bean
        Service service(LockClient locks) {
            return new Service(locks);
        }
    }

    @Configuration
    @EnableTransactionManagement
    @EnableCaching
    @EnableAsync
    static class Usual extends Database {}

    @Configuration
    @EnableTransactionManagement(order = 5)
    @EnableCaching
    @EnableAsync
    static class TransactionsFirst extends Database {}

    @Configuration
    @EnableTransactionManagement(order = Ordered.HIGHEST_PRECEDENCE)
    static class TransactionsBeforeAll extends Database {}

    @Configuration
    static class Refusing {
        @Bean
        LockDefaults defaults() {
            return new LockDefaults(Duration.ofSeconds(1), CallerTransaction.REFUSE);
        }
    }

    static class Service {
        private final LockClient locks;

        Service(LockClient locks) {
            this.locks = locks;
        }

        @Locked(name = LOCK)
        @Transactional
        public String run(Callable<String> work) throws Exception {
            return work.call();
        }

        @Locked(name = LOCK, fenced = true)
        @Transactional
        public String fenced(Callable<String> work) throws Exception {
            return work.call();
        }

        @Locked(name = LOCK)
        @Transactional(propagation = Propagation.REQUIRES_NEW)
        public String inItsOwn(Callable<String> work) throws Exception {
            return work.call();
        }

        @Async
        @Locked(name = LOCK)
        @Transactional
        @Cacheable("numbers")
        public CompletableFuture<String> everything(int number) {
            return CompletableFuture.completedFuture(
                    number + (locks.inspect(LOCK).isFree() ? " free" : " held"));
        }
    }

    private static AnnotationConfigApplicationContext start(Class<?>... classes) {
        return Contexts.start(classes);
    }

    private static Callable<String> losing(AnnotationConfigApplicationContext context) {
        return () -> {
            context.getBean(LockClient.class).forceRelease(LOCK);
            return "done";
        };
    }

    private static boolean isFree(AnnotationConfigApplicationContext context) {
        return context.getBean(LockClient.class).inspect(LOCK).isFree();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3})
    void theLockEnclosesTheTransactionWhateverTheOrder(int order) throws Exception {
        Class<?> transactions = order % 2 == 0 ? Usual.class : TransactionsFirst.class;
        try (AnnotationConfigApplicationContext context = order < 2
                ? start(Contexts.OneClient.class, transactions)
                : start(transactions, Contexts.OneClient.class)) {
            Manager manager = context.getBean(Manager.class);
            Service service = context.getBean(Service.class);
            assertThat(service.run(() -> "done")).isEqualTo("done");
            assertThat(manager.events).containsExactly("begin held", "commit held");
            assertThatThrownBy(() -> service.run(() -> {
                        throw new IllegalStateException("no");
                    }))
                    .hasMessage("no");
            assertThat(manager.events).endsWith("begin held", "rollback held");
            assertThat(isFree(context)).isTrue();
        }
    }

    @Test
    void transactionsThatLeaveNoPlaceOutsideEndTheStart() {
        assertThatThrownBy(() -> start(Contexts.OneClient.class, TransactionsBeforeAll.class))
                .rootCause()
                .hasMessageContaining("Transactions have the highest precedence");
    }

    @Test
    void withCacheAndAsyncTheLockIsHeldByTheThreadThatWorks() throws Exception {
        try (AnnotationConfigApplicationContext context = start(Contexts.OneClient.class, Usual.class)) {
            Service service = context.getBean(Service.class);
            assertThat(service.everything(1).get()).isEqualTo("1 held");
            assertThat(service.everything(1).get()).isEqualTo("1 held"); // from the cache
            assertThat(context.getBean(Manager.class).events).containsOnly("begin held", "commit held");
            assertThat(isFree(context)).isTrue();
        }
    }

    @Test
    void inATransactionOfTheCallerTheLockIsReleasedAfterIt() throws Exception {
        try (AnnotationConfigApplicationContext context = start(Contexts.OneClient.class, Usual.class)) {
            Manager manager = context.getBean(Manager.class);
            Service service = context.getBean(Service.class);
            TransactionTemplate transactions = context.getBean(TransactionTemplate.class);
            LockTemplate template = context.getBean(LockTemplate.class);
            List<Callable<String>> ways =
                    List.of(() -> service.run(() -> "done"), () -> template.execute(LOCK, lease -> "done"));
            for (Callable<String> way : ways) {
                manager.events.clear();
                assertThat(inTransaction(transactions, way)).isEqualTo("done");
                assertThat(manager.events).containsExactly("begin free", "commit held");
                assertThat(isFree(context)).isTrue();
                assertThatThrownBy(() -> inTransaction(transactions, () -> {
                            way.call();
                            throw new IllegalStateException("no");
                        }))
                        .hasMessage("no");
                assertThat(manager.events).endsWith("begin free", "rollback held");
                assertThat(isFree(context)).isTrue();
            }
            manager.events.clear();
            inTransaction(transactions, () -> {
                service.inItsOwn(() -> "done");
                assertThat(isFree(context)).isTrue();
                return "done";
            });
            assertThat(manager.events).containsExactly("begin free", "begin held", "commit held", "commit free");
        }
    }

    private static @Nullable String inTransaction(TransactionTemplate transactions, Callable<String> work) {
        return transactions.execute(status -> {
            try {
                return work.call();
            } catch (RuntimeException e) {
                throw e;
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
    }

    @Test
    void aLossReachesTheCaller() throws Exception {
        try (AnnotationConfigApplicationContext context = start(Contexts.OneClient.class, Usual.class)) {
            Manager manager = context.getBean(Manager.class);
            Service service = context.getBean(Service.class);
            LockClient locks = context.getBean(LockClient.class);
            TransactionTemplate transactions = context.getBean(TransactionTemplate.class);
            // The lock encloses the transaction: the work is committed, and the exception has its result.
            assertThatThrownBy(() -> service.run(losing(context)))
                    .isInstanceOfSatisfying(
                            LockLostAfterWorkException.class,
                            e -> assertThat(e.result()).isEqualTo("done"));
            assertThat(service.fenced(losing(context))).isEqualTo("done");
            // The transaction is the caller's: a loss before the commit rolls it back.
            manager.events.clear();
            assertThatThrownBy(() -> inTransaction(transactions, () -> service.run(losing(context))))
                    .isInstanceOf(LockLostException.class)
                    .isNotInstanceOf(LockLostAfterWorkException.class);
            assertThat(manager.events).endsWith("rollback free");
            assertThat(inTransaction(transactions, () -> service.fenced(losing(context))))
                    .isEqualTo("done");
            // A loss that nobody knew of before the commit is thrown with the result.
            manager.duringCommit = () -> locks.forceRelease(LOCK);
            assertThatThrownBy(() -> inTransaction(transactions, () -> service.run(() -> "done")))
                    .isInstanceOfSatisfying(
                            LockLostAfterWorkException.class,
                            e -> assertThat(e.result()).isEqualTo("done"));
            manager.duringCommit = null;
            assertThat(service.run(() -> "again")).isEqualTo("again");
        }
    }

    @Test
    void aTransactionOfTheCallerCanBeRefused() throws Exception {
        try (AnnotationConfigApplicationContext context =
                start(Contexts.OneClient.class, Usual.class, Refusing.class)) {
            Service service = context.getBean(Service.class);
            TransactionTemplate transactions = context.getBean(TransactionTemplate.class);
            LockTemplate template = new TransactionalLockTemplate(
                    context.getBean(LockClient.class), LockOptions.defaults(), context.getBean(LockDefaults.class));
            assertThat(service.run(() -> "done")).isEqualTo("done");
            assertThatThrownBy(() -> inTransaction(transactions, () -> service.run(() -> "done")))
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContaining("Service.run(Callable)")
                    .hasMessageContaining("before the transaction begins");
            assertThatThrownBy(() -> inTransaction(transactions, () -> template.execute(LOCK, lease -> "done")))
                    .isInstanceOf(LockConfigurationException.class);
        }
    }

    /** The lock was acquired before the transaction began, so it encloses it; the inner calls only enter it again. */
    @Test
    void aLockThatIsHeldAlreadyEnclosesTheTransaction() throws Exception {
        try (AnnotationConfigApplicationContext context =
                start(Contexts.OneClient.class, Usual.class, Refusing.class)) {
            Manager manager = context.getBean(Manager.class);
            Service service = context.getBean(Service.class);
            LockClient locks = context.getBean(LockClient.class);
            LockTemplate template =
                    new TransactionalLockTemplate(locks, LockOptions.defaults(), context.getBean(LockDefaults.class));
            for (Callable<String> inner : List.<Callable<String>>of(
                    () -> service.run(() -> "done"), () -> template.execute(LOCK, lease -> "done"))) {
                manager.events.clear();
                assertThat(service.run(inner)).isEqualTo("done");
                assertThat(manager.events).containsExactly("begin held", "commit held");
                assertThat(isFree(context)).isTrue();
                assertThatThrownBy(() -> service.run(() -> {
                            inner.call();
                            return losing(context).call();
                        }))
                        .as("nothing is committed without the lock")
                        .isInstanceOf(LockLostException.class);
                assertThat(manager.events).endsWith("begin held", "rollback free");
            }
            // Even if the thread releases its own hold before the commit.
            TransactionTemplate transactions = context.getBean(TransactionTemplate.class);
            locks.lock(LOCK).lock();
            manager.events.clear();
            inTransaction(transactions, () -> {
                service.run(() -> "done");
                locks.lock(LOCK).unlock();
                return "done";
            });
            assertThat(manager.events).containsExactly("begin held", "commit held");
            assertThat(isFree(context)).isTrue();
        }
    }

    @Test
    void aLockThatIsHeldAlreadyIsNoReasonForAWarning() throws Exception {
        try (AnnotationConfigApplicationContext context = start(Contexts.OneClient.class, Usual.class)) {
            LockClient locks = context.getBean(LockClient.class);
            LockTemplate template = context.getBean(LockTemplate.class);
            TransactionTemplate transactions = context.getBean(TransactionTemplate.class);
            Callable<String> inner = () -> template.execute("entered-again:1", lease -> "done");
            assertThat(Logs.of(() -> {
                        locks.lock("entered-again:1").lock();
                        inTransaction(transactions, inner);
                        locks.lock("entered-again:1").unlock();
                    }))
                    .doesNotContain("in a transaction already");
            assertThat(Logs.of(() -> inTransaction(transactions, inner))).contains("in a transaction already");
        }
    }

    /** 150 buyers want one of 100 items each; the transaction begins inside the lock, or around it. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void noMoreIsSoldThanThereIs(boolean callersTransaction) throws Exception {
        try (AnnotationConfigApplicationContext context = start(Contexts.OneClient.class, Usual.class)) {
            JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
            jdbc.execute("drop table if exists stock");
            jdbc.execute("create table stock (amount int)");
            jdbc.execute("insert into stock values (100)");
            Service service = context.getBean(Service.class);
            TransactionTemplate transactions = context.getBean(TransactionTemplate.class);
            Callable<String> buy = () -> service.run(() -> {
                int left = jdbc.queryForObject("select amount from stock", Integer.class);
                if (left > 0) {
                    jdbc.update("update stock set amount = ?", left - 1);
                }
                return left > 0 ? "sold" : "";
            });
            ExecutorService buyers = Executors.newFixedThreadPool(8);
            List<Future<@Nullable String>> calls = new ArrayList<>();
            for (int i = 0; i < 150; i++) {
                calls.add(buyers.submit(() -> callersTransaction ? inTransaction(transactions, buy) : buy.call()));
            }
            int sold = 0;
            for (Future<@Nullable String> call : calls) {
                sold += "sold".equals(call.get()) ? 1 : 0;
            }
            buyers.shutdown();
            assertThat(sold).isEqualTo(100);
            assertThat(jdbc.queryForObject("select amount from stock", Integer.class))
                    .isZero();
        }
    }
}
