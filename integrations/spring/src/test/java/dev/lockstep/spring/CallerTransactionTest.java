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
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.event.TransactionPhase;
import org.springframework.transaction.event.TransactionalEventListener;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Asynchronous work, and what else runs at the end of a transaction, if the transaction is the caller's. */
@Timeout(60)
class CallerTransactionTest {
    private static final String LOCK = "stock"; // which the manager records

    private AnnotationConfigApplicationContext context;
    private LockClient locks;
    private Service service;
    private TransactionTemplate transactions;
    private List<String> events;

    static class Service {
        private final LockClient locks;
        final List<String> heard = new CopyOnWriteArrayList<>();

        Service(LockClient locks) {
            this.locks = locks;
        }

        @Locked(name = LOCK)
        public CompletableFuture<String> stage(CompletableFuture<String> work) {
            return work;
        }

        @Locked(name = LOCK)
        public @Nullable CompletableFuture<String> nothing() {
            return null;
        }

        @Locked(name = LOCK)
        public CompletableFuture<String> throwing() {
            throw new IllegalArgumentException("no");
        }

        @Locked(name = LOCK)
        public String run() {
            return "done";
        }

        @Locked(name = LOCK)
        public void warned() {}

        @Locked(name = LOCK)
        @jakarta.transaction.Transactional(jakarta.transaction.Transactional.TxType.REQUIRES_NEW)
        public String inItsOwn() {
            return "done";
        }

        @Locked(name = LOCK)
        @Transactional(propagation = Propagation.REQUIRES_NEW)
        public String inItsOwnOfSpring() {
            return "done";
        }

        @TransactionalEventListener(phase = TransactionPhase.AFTER_COMMIT)
        void committed(String event) {
            if (event.equals("lose")) {
                locks.forceRelease(LOCK);
            }
            heard.add(event + (locks.inspect(LOCK).isFree() ? " free" : " held"));
        }
    }

    @BeforeEach
    void start() {
        context = Contexts.start(Contexts.OneClient.class, TransactionsTest.Usual.class, Service.class);
        locks = context.getBean(LockClient.class);
        service = context.getBean(Service.class);
        transactions = context.getBean(TransactionTemplate.class);
        events = context.getBean(TransactionsTest.Manager.class).events;
    }

    @AfterEach
    void stop() {
        context.close();
    }

    private boolean isFree() {
        return locks.inspect(LOCK).isFree();
    }

    private static TransactionSynchronization afterCommit(Runnable action) {
        return new TransactionSynchronization() {
            @Override
            public void afterCommit() {
                action.run();
            }
        };
    }

    @Test
    void aStageThatFailsAtOnceIsReleasedAfterTheCommit() {
        transactions.executeWithoutResult(
                status -> assertThatThrownBy(() -> service.throwing()).isInstanceOf(IllegalArgumentException.class));
        assertThat(events).containsExactly("begin free", "commit held");
        assertThat(isFree()).isTrue();
        events.clear();
        transactions.executeWithoutResult(
                status -> assertThat(service.nothing()).isNull());
        assertThat(events).containsExactly("begin free", "commit held");
        assertThat(isFree()).isTrue();
    }

    @Test
    void aStageThatIsDoneIsReleasedAfterTheTransaction() throws Exception {
        // The caller may wait for the result inside of its transaction.
        assertThat(transactions.<String>execute(status ->
                        service.stage(CompletableFuture.completedFuture("done")).join()))
                .isEqualTo("done");
        assertThat(events).containsExactly("begin free", "commit held");
        assertThat(isFree()).isTrue();
        events.clear();
        transactions.executeWithoutResult(status -> {
            service.stage(CompletableFuture.completedFuture("done")).join();
            status.setRollbackOnly();
        });
        assertThat(events).containsExactly("begin free", "rollback held");
        assertThat(isFree()).isTrue();
    }

    @Test
    void aStageThatOutlivesTheTransactionKeepsTheLock() throws Exception {
        CompletableFuture<String> work = new CompletableFuture<>();
        CompletableFuture<String> result = transactions.execute(status -> service.stage(work));
        assertThat(isFree()).isFalse();
        assertThat(result).isNotDone();
        work.complete("done");
        assertThat(result.get(20, TimeUnit.SECONDS)).isEqualTo("done");
        assertThat(isFree()).isTrue();
        CompletableFuture<String> other = new CompletableFuture<>();
        CompletableFuture<String> lost = transactions.execute(status -> service.stage(other));
        locks.forceRelease(LOCK);
        other.complete("done");
        assertThatThrownBy(() -> lost.get(20, TimeUnit.SECONDS)).hasCauseInstanceOf(LockLostAfterWorkException.class);
    }

    @Test
    void aLossOfAStageReachesTheCaller() {
        CompletableFuture<String> work = new CompletableFuture<>();
        assertThatThrownBy(() -> transactions.execute(status -> {
                    CompletableFuture<String> result = service.stage(work);
                    locks.forceRelease(LOCK);
                    work.complete("done");
                    assertThatThrownBy(() -> result.get(20, TimeUnit.SECONDS))
                            .hasCauseInstanceOf(LockLostAfterWorkException.class);
                    return "done";
                }))
                .isInstanceOf(LockLostException.class);
        assertThat(events).endsWith("rollback free");
        // After the result, and before the commit.
        assertThatThrownBy(() -> transactions.execute(status -> {
                    service.stage(CompletableFuture.completedFuture("done")).join();
                    locks.forceRelease(LOCK);
                    return "done";
                }))
                .isInstanceOf(LockLostException.class)
                .isNotInstanceOf(LockLostAfterWorkException.class);
        assertThat(events).endsWith("rollback free");
        // During the commit.
        context.getBean(TransactionsTest.Manager.class).duringCommit = () -> locks.forceRelease(LOCK);
        assertThatThrownBy(() -> transactions.execute(status ->
                        service.stage(CompletableFuture.completedFuture("done")).join()))
                .isInstanceOfSatisfying(
                        LockLostAfterWorkException.class,
                        e -> assertThat(e.result()).isEqualTo("done"));
    }

    @Test
    void asynchronousWorkOfATemplateIsReleasedAfterTheTransaction() throws Exception {
        LockTemplate template = context.getBean(LockTemplate.class);
        assertThat(transactions.<String>execute(
                        status -> template.executeAsync(LOCK, lease -> CompletableFuture.completedFuture("done"))
                                .join()))
                .isEqualTo("done");
        assertThat(events).containsExactly("begin free", "commit held");
        assertThat(isFree()).isTrue();
        CompletableFuture<String> work = new CompletableFuture<>();
        CompletableFuture<String> result = transactions.execute(status -> {
            CompletableFuture<Void> begun = new CompletableFuture<>();
            CompletableFuture<String> started = template.executeAsync(LOCK, lease -> {
                begun.complete(null);
                return work;
            });
            begun.join();
            return started;
        });
        assertThat(isFree()).isFalse();
        work.complete("done");
        assertThat(result.get(20, TimeUnit.SECONDS)).isEqualTo("done");
        assertThat(isFree()).isTrue();
        assertThat(template.executeAsync(LOCK, lease -> CompletableFuture.completedFuture("alone"))
                        .get(20, TimeUnit.SECONDS))
                .isEqualTo("alone");
        assertThat(isFree()).isTrue();
    }

    /** As code in Kotlin may, which has no checked exceptions. */
    @SuppressWarnings("unchecked")
    private static <T, E extends Throwable> T throwUndeclared(Throwable thrown) throws E {
        throw (E) thrown;
    }

    @Test
    void asynchronousWorkInATransactionThatThrowsReleasesTheLock() {
        LockTemplate template = context.getBean(LockTemplate.class);
        IOException failure = new IOException("on purpose");
        transactions.executeWithoutResult(status -> assertThatThrownBy(() -> template.executeAsync(
                                LOCK,
                                lease ->
                                        CallerTransactionTest
                                                .<CompletableFuture<String>, RuntimeException>throwUndeclared(failure))
                        .get(20, TimeUnit.SECONDS))
                .hasCause(failure));
        assertThat(isFree()).isTrue();
    }

    @Test
    void asynchronousWorkInATransactionCanBeRefused() {
        LockTemplate refusing = new TransactionalLockTemplate(
                locks, LockOptions.defaults(), new LockDefaults(Duration.ofSeconds(1), CallerTransaction.REFUSE));
        transactions.executeWithoutResult(status -> assertThatThrownBy(
                        () -> refusing.executeAsync(LOCK, lease -> CompletableFuture.completedFuture("no"))
                                .get(20, TimeUnit.SECONDS))
                .hasCauseInstanceOf(LockConfigurationException.class));
        assertThat(refusing.executeAsync(LOCK, lease -> CompletableFuture.completedFuture("done"))
                        .join())
                .isEqualTo("done");
    }

    /** Whether they were registered before the lock was acquired or afterwards. */
    @Test
    void listenersOfTheTransactionRunUnderTheLock() {
        transactions.executeWithoutResult(status -> {
            context.publishEvent("before");
            service.run();
            context.publishEvent("after");
            TransactionSynchronizationManager.registerSynchronization(
                    afterCommit(() -> service().heard.add(isFree() ? "synchronization free" : "synchronization held")));
        });
        assertThat(service().heard).containsExactlyInAnyOrder("before held", "after held", "synchronization held");
        assertThat(isFree()).isTrue();
    }

    private Service service() {
        return (Service) AopProxyUtils.getSingletonTarget(service);
    }

    @Test
    void aLossDoesNotKeepOthersFromRunning() {
        context.getBean(TransactionsTest.Manager.class).duringCommit = () -> locks.forceRelease(LOCK);
        assertThatThrownBy(() -> transactions.executeWithoutResult(status -> {
                    service.run();
                    context.publishEvent("after");
                    TransactionSynchronizationManager.registerSynchronization(
                            afterCommit(() -> service().heard.add("synchronization")));
                }))
                .isInstanceOf(LockLostAfterWorkException.class);
        assertThat(service().heard).containsExactlyInAnyOrder("after free", "synchronization");
    }

    /** Spring only logs what is thrown when a transaction has completed. */
    @Test
    void aLossAfterAllCallbacksReachesTheCaller() {
        assertThatThrownBy(() -> transactions.execute(status -> {
                    service.run();
                    context.publishEvent("lose");
                    return "done";
                }))
                .isInstanceOfSatisfying(
                        LockLostAfterWorkException.class,
                        e -> assertThat(e.result()).isEqualTo("done"));
        assertThat(events).endsWith("commit held");
        assertThat(transactions.<String>execute(status -> service.run())).isEqualTo("done");
    }

    @Test
    void allLossesAreReported() {
        context.getBean(TransactionsTest.Manager.class).duringCommit = () -> {
            locks.forceRelease(LOCK);
            locks.forceRelease("other");
        };
        LockTemplate template = context.getBean(LockTemplate.class);
        assertThatThrownBy(() -> transactions.execute(status -> {
                    service.run();
                    template.executeAsync("other", lease -> CompletableFuture.completedFuture("done"))
                            .join();
                    return "done";
                }))
                .isInstanceOfSatisfying(LockLostAfterWorkException.class, e -> {
                    assertThat(e.lockName()).isEqualTo(LOCK);
                    assertThat(e.getSuppressed()).singleElement().isInstanceOf(LockLostAfterWorkException.class);
                });
    }

    @Test
    void aTransactionOfItsOwnIsNotTheCallers() {
        for (boolean jakarta : List.of(false, true)) {
            events.clear();
            transactions.executeWithoutResult(status -> {
                if (jakarta) {
                    service.inItsOwn();
                } else {
                    service.inItsOwnOfSpring();
                }
                assertThat(isFree()).isTrue();
            });
            assertThat(events).containsExactly("begin free", "begin held", "commit held", "commit free");
        }
    }

    @Test
    void theWarningIsLoggedOnceForEachPlace() {
        LockTemplate template = context.getBean(LockTemplate.class);
        String log = Logs.of(() -> transactions.execute(status -> {
            for (String name : List.of("warned:1", "warned:2", "another:1", "another:2")) {
                template.executeAsync(name, lease -> CompletableFuture.completedFuture("done"))
                        .join();
            }
            return "done";
        }));
        assertThat(log)
                .contains("WARN")
                .contains(
                        "under snapshot isolation (REPEATABLE READ, SERIALIZABLE) the transaction may read data from before")
                .contains("lockstep.transaction=refuse")
                .contains("'warned:1' (LockTemplate, locks 'warned:…')");
        assertThat(log.split("in a transaction already", -1)).as(log).hasSize(3);
        String ofMethod = Logs.of(() -> {
            for (int i = 0; i < 2; i++) {
                transactions.executeWithoutResult(status -> service.warned());
            }
        });
        assertThat(ofMethod).contains("Service.warned()");
        assertThat(ofMethod.split("in a transaction already", -1)).as(ofMethod).hasSize(2);
    }
}
