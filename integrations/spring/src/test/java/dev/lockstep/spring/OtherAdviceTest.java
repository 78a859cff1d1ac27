package dev.lockstep.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockTimeoutException;
import dev.lockstep.annotation.Locked;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.concurrent.ConcurrentMapCacheManager;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.task.TaskExecutor;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.retry.annotation.Backoff;
import org.springframework.retry.annotation.RetryConfiguration;
import org.springframework.retry.annotation.Retryable;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.security.access.AccessDeniedException;
import org.springframework.security.access.prepost.PreAuthorize;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.config.annotation.method.configuration.EnableMethodSecurity;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.task.DelegatingSecurityContextAsyncTaskExecutor;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.DefaultTransactionStatus;

/** A lock beside method security, retries, transactions, caches and {@code @Async}, in the default order. */
class OtherAdviceTest {
    @Configuration
    @EnableMethodSecurity
    @Import(RetryConfiguration.class) // as @EnableRetry does, which needs AspectJ besides
    static class Both {
        @Bean
        Service service(LockClient locks) {
            return new Service(locks);
        }
    }

    static class Service {
        private final LockClient locks;
        final List<Boolean> held = new ArrayList<>();

        Service(LockClient locks) {
            this.locks = locks;
        }

        @Locked(name = "a", waitAtMost = "0s")
        @PreAuthorize("hasRole('SELLER')")
        public String sell() {
            return "sold";
        }

        @Locked(name = "a")
        @Retryable(maxAttempts = 3, backoff = @Backoff(delay = 1))
        public List<Boolean> unsteady() {
            held.add(!locks.inspect("a").isFree());
            if (held.size() < 3) {
                throw new IllegalStateException("again");
            }
            return held;
        }
    }

    @AfterEach
    void logOut() {
        SecurityContextHolder.clearContext();
    }

    private static void logIn(String role) {
        SecurityContextHolder.getContext().setAuthentication(new TestingAuthenticationToken("eve", "", role));
    }

    @Test
    void aCallThatIsNotAllowedTakesNoLock() throws Exception {
        try (AnnotationConfigApplicationContext context = Contexts.start(Contexts.OneClient.class, Both.class)) {
            Service service = context.getBean(Service.class);
            try (Lease other =
                    context.getBean(LockClient.class).lock("a").acquireAsync().get()) {
                logIn("ROLE_BUYER");
                assertThatThrownBy(service::sell).isInstanceOf(AccessDeniedException.class);
                logIn("ROLE_SELLER");
                assertThatThrownBy(service::sell).isInstanceOf(LockTimeoutException.class);
                assertThat(other.isValid()).isTrue();
            }
            assertThat(service.sell()).isEqualTo("sold");
        }
    }

    @Test
    void everyTryRunsUnderTheLock() {
        try (AnnotationConfigApplicationContext context = Contexts.start(Contexts.OneClient.class, Both.class)) {
            assertThat(context.getBean(Service.class).unsteady()).containsExactly(true, true, true);
            assertThat(context.getBean(LockClient.class).inspect("a").isFree()).isTrue();
        }
    }

    /** Records whether the lock is held when transactions begin and end. */
    static class Transactions extends DataSourceTransactionManager {
        private static final long serialVersionUID = 1L;

        private final transient LockClient locks;
        private final transient List<String> events;

        Transactions(LockClient locks, List<String> events) {
            super(new DriverManagerDataSource("jdbc:h2:mem:advice;DB_CLOSE_DELAY=-1", "sa", ""));
            this.locks = locks;
            this.events = events;
        }

        private void record(String event) {
            events.add(event + (locks.inspect("a").isFree() ? " free" : " held"));
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
        }

        @Override
        protected void doRollback(DefaultTransactionStatus status) {
            record("rollback");
            super.doRollback(status);
        }
    }

    @Configuration
    @EnableMethodSecurity
    @EnableTransactionManagement
    @EnableCaching
    @EnableAsync
    @Import(RetryConfiguration.class)
    static class All {
        @Bean
        List<String> events() {
            return new CopyOnWriteArrayList<>();
        }

        @Bean
        Transactions transactionManager(LockClient locks, List<String> events) {
            return new Transactions(locks, events);
        }

        @Bean
        CacheManager caches() {
            return new ConcurrentMapCacheManager();
        }

        @Bean
        TaskExecutor taskExecutor() { // security is checked in the thread that works
            return new DelegatingSecurityContextAsyncTaskExecutor(new SimpleAsyncTaskExecutor("worker-"));
        }

        @Bean
        Everything everything(LockClient locks, List<String> events) {
            return new Everything(locks, events);
        }
    }

    static class Everything {
        private final LockClient locks;
        private final List<String> events;
        private int calls;

        Everything(LockClient locks, List<String> events) {
            this.locks = locks;
            this.events = events;
        }

        @Async
        @PreAuthorize("hasRole('SELLER')")
        @Locked(name = "a")
        @Retryable(maxAttempts = 2, backoff = @Backoff(delay = 1))
        @Transactional
        @Cacheable("numbers")
        public CompletableFuture<String> number(int id) {
            events.add("work" + (locks.inspect("a").isFree() ? " free" : " held"));
            if (calls++ == 0) {
                throw new IllegalStateException("again");
            }
            return CompletableFuture.completedFuture(
                    id + " in " + Thread.currentThread().getName());
        }
    }

    /** Security, then the lock, then retries, cache and transaction; all of it in the thread of @Async. */
    @Test
    void allOfThemOnOneMethodKeepTheDefaultOrder() throws Exception {
        try (AnnotationConfigApplicationContext context = Contexts.start(Contexts.OneClient.class, All.class)) {
            Everything everything = context.getBean(Everything.class);
            @SuppressWarnings("unchecked")
            List<String> events = (List<String>) context.getBean("events");
            logIn("ROLE_BUYER");
            assertThatThrownBy(() -> everything.number(1).get()).hasCauseInstanceOf(AccessDeniedException.class);
            assertThat(events).isEmpty();
            logIn("ROLE_SELLER");
            assertThat(everything.number(1).get()).startsWith("1 in worker-");
            assertThat(events)
                    .containsSubsequence(
                            "begin held", "work held", "rollback held", "begin held", "work held", "commit held")
                    .noneMatch(event -> event.endsWith("free"));
            int before = events.size();
            assertThat(everything.number(1).get()).startsWith("1 in worker-");
            assertThat(events.subList(before, events.size())).doesNotContain("work held", "work free");
            assertThat(context.getBean(LockClient.class).inspect("a").isFree()).isTrue();
        }
    }
}
