package dev.lockstep.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockLostAfterWorkException;
import dev.lockstep.LockLostException;
import dev.lockstep.annotation.Locked;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.transaction.ReactiveTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.reactive.AbstractReactiveTransactionManager;
import org.springframework.transaction.reactive.GenericReactiveTransaction;
import org.springframework.transaction.reactive.TransactionSynchronization;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;
import org.springframework.transaction.reactive.TransactionalOperator;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Publishers in a caller's reactive transaction. */
@Timeout(60)
class ReactiveTransactionsTest {
    /** Records whether the lock is held when transactions begin and end. There is no database behind it. */
    static class Manager extends AbstractReactiveTransactionManager {
        private static final long serialVersionUID = 1L;

        private final transient LockClient locks;
        final List<String> events = new CopyOnWriteArrayList<>();
        transient @Nullable Runnable duringCommit;

        Manager(LockClient locks) {
            this.locks = locks;
        }

        private Mono<Void> record(String event) {
            return Mono.fromRunnable(
                    () -> events.add(event + (locks.inspect("a").isFree() ? " free" : " held")));
        }

        @Override
        protected Object doGetTransaction(TransactionSynchronizationManager manager) {
            return new Object();
        }

        @Override
        protected Mono<Void> doBegin(
                TransactionSynchronizationManager manager, Object transaction, TransactionDefinition definition) {
            return record("begin");
        }

        @Override
        protected Mono<Void> doCommit(TransactionSynchronizationManager manager, GenericReactiveTransaction status) {
            return record("commit").then(Mono.fromRunnable(() -> {
                if (duringCommit != null) {
                    duringCommit.run();
                }
            }));
        }

        @Override
        protected Mono<Void> doRollback(TransactionSynchronizationManager manager, GenericReactiveTransaction status) {
            return record("rollback");
        }
    }

    static class Service {
        @Locked(name = "a")
        public Mono<String> mono(Mono<String> work) {
            return work;
        }

        @Locked(name = "a")
        public Flux<Integer> flux() {
            return Flux.just(1, 2);
        }

        @Locked(name = "a")
        @Transactional
        public Mono<String> transactional() {
            return Mono.just("done");
        }
    }

    @EnableTransactionManagement
    static class Beans {
        @Bean
        Manager manager(LockClient locks) {
            return new Manager(locks);
        }

        @Bean
        TransactionalOperator operator(ReactiveTransactionManager manager) {
            return TransactionalOperator.create(manager);
        }
    }

    private AnnotationConfigApplicationContext context;
    private LockClient locks;
    private Service service;
    private Manager manager;
    private TransactionalOperator transaction;

    @BeforeEach
    void start() {
        start(Contexts.OneClient.class, Beans.class, Service.class);
    }

    private void start(Class<?>... classes) {
        context = Contexts.start(classes);
        locks = context.getBean(LockClient.class);
        service = context.getBean(Service.class);
        manager = context.getBean(Manager.class);
        transaction = context.getBean(TransactionalOperator.class);
    }

    @AfterEach
    void stop() {
        context.close();
    }

    private boolean isFree() {
        return locks.inspect("a").isFree();
    }

    @Test
    void theLockEnclosesTheMethodsOwnTransaction() {
        assertThat(service.transactional().block()).isEqualTo("done");
        assertThat(manager.events).containsExactly("begin held", "commit held");
        assertThat(isFree()).isTrue();
    }

    @Test
    void theLockIsReleasedAfterTheCallersTransaction() {
        assertThat(service.mono(Mono.just("done"))
                        .as(transaction::transactional)
                        .block())
                .isEqualTo("done");
        assertThat(service.flux().as(transaction::transactional).collectList().block())
                .containsExactly(1, 2);
        assertThat(manager.events).containsExactly("begin free", "commit held", "begin free", "commit held");
        assertThat(isFree()).isTrue();
        manager.events.clear();
        assertThatThrownBy(() -> service.mono(Mono.error(new IllegalStateException("no")))
                        .as(transaction::transactional)
                        .block())
                .hasMessage("no");
        assertThat(manager.events).containsExactly("begin free", "rollback held");
        assertThat(isFree()).isTrue();
    }

    @Test
    void othersRunUnderTheLockAndALossIsReported() {
        List<String> heard = new CopyOnWriteArrayList<>();
        Mono<String> work = service.mono(Mono.just("done"))
                .flatMap(done -> TransactionSynchronizationManager.forCurrentTransaction()
                        .doOnNext(current -> current.registerSynchronization(new TransactionSynchronization() {
                            @Override
                            public Mono<Void> afterCompletion(int status) {
                                return Mono.fromRunnable(() -> heard.add(isFree() ? "free" : "held"));
                            }
                        }))
                        .thenReturn(done));
        assertThat(work.as(transaction::transactional).block()).isEqualTo("done");
        assertThat(heard).containsExactly("held");
        assertThat(isFree()).isTrue();
        manager.duringCommit = () -> locks.forceRelease("a"); // where no exception reaches the caller any more
        assertThat(Logs.of(() -> assertThat(service.mono(Mono.just("done"))
                                .as(transaction::transactional)
                                .block())
                        .isEqualTo("done")))
                .contains("Lock 'a' had been lost when its transaction was committed");
        manager.duringCommit = null;
        manager.events.clear();
        assertThatThrownBy(() -> service.mono(Mono.just("done"))
                        .doOnNext(done -> locks.forceRelease("a"))
                        .as(transaction::transactional)
                        .block())
                .isInstanceOf(LockLostException.class)
                .isNotInstanceOf(LockLostAfterWorkException.class);
        assertThat(manager.events).endsWith("rollback free");
    }

    @Test
    void aTransactionOfTheCallerCanBeRefused() {
        context.close();
        start(Contexts.OneClient.class, Beans.class, Service.class, TransactionsTest.Refusing.class);
        assertThatThrownBy(() -> service.mono(Mono.just("done"))
                        .as(transaction::transactional)
                        .block())
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining("Service.mono(Mono)");
        assertThat(service.mono(Mono.just("done")).block()).isEqualTo("done");
        assertThat(service.transactional().block()).isEqualTo("done");
    }
}
