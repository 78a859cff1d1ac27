package dev.lockstep.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockNotAcquiredException;
import dev.lockstep.annotation.Locked;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Calls of asynchronous methods that are interrupted or cancelled while they wait for the lock leave nothing behind. */
@Timeout(60)
class GivenUpCallsTest {
    private static final String LOCK = "order:1";
    private static final String URL = "memory:given-up";

    private final LockClient other = LockClient.connect(URL);

    @BeforeEach
    void wait20Seconds() {
        Awaitility.setDefaultTimeout(Duration.ofSeconds(20)); // a busy machine takes long
    }

    @AfterEach
    void close() {
        other.close();
    }

    static class Service {
        @Locked(name = "order", key = "'1'", waitAtMost = "1h")
        public CompletableFuture<String> stage() {
            return new CompletableFuture<>();
        }

        @Locked(name = "order", key = "'1'", waitAtMost = "1h")
        public Mono<String> mono() {
            return Mono.never();
        }

        @Locked(name = "order", key = "'1'", waitAtMost = "1h")
        public Flux<String> flux() {
            return Flux.never();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableLocks
    static class WaitingClient {
        @Bean
        LockClient locks() {
            return LockClient.connect(URL);
        }
    }

    /** A client whose asynchronous calls are granted when they are cancelled. */
    @Configuration(proxyBeanMethods = false)
    @EnableLocks
    static class LateClient {
        final AtomicInteger waiting = new AtomicInteger();
        final AtomicInteger late = new AtomicInteger();

        @Bean
        LockClient locks() {
            LockClient real = LockClient.connect(URL);
            return proxy(LockClient.class, real, (method, arguments) -> {
                Object result = method.invoke(real, arguments);
                return result instanceof DistributedLock lock ? lateLock(lock) : result;
            });
        }

        private DistributedLock lateLock(DistributedLock real) {
            return proxy(
                    DistributedLock.class,
                    real,
                    (method, arguments) -> method.getName().equals("tryAcquireAsync")
                            ? waitingCall(real)
                            : method.invoke(real, arguments));
        }

        private CompletableFuture<Optional<Lease>> waitingCall(DistributedLock real) {
            CompletableFuture<Optional<Lease>> call = new CompletableFuture<>() {
                @Override
                public boolean cancel(boolean mayInterrupt) {
                    if (!isDone()) {
                        complete(Optional.of(real.acquireAsync().join()));
                        late.incrementAndGet();
                    }
                    return false;
                }
            };
            waiting.incrementAndGet();
            return call;
        }
    }

    private interface Answer {
        @Nullable
        Object to(Method method, Object @Nullable [] arguments) throws ReflectiveOperationException;
    }

    private static <T> T proxy(Class<T> type, T real, Answer answer) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> {
                    try {
                        return answer.to(method, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getTargetException();
                    }
                }));
    }

    /** A way to call, and to give up. */
    private interface Way {
        /** Begins a call. Returns what gives it up. */
        Runnable call(AnnotationConfigApplicationContext context);
    }

    private static final Way STAGE = context -> {
        AtomicReference<@Nullable Throwable> thrown = new AtomicReference<>();
        Thread caller = new Thread(() -> {
            try {
                context.getBean(Service.class).stage();
            } catch (RuntimeException e) {
                thrown.set(e);
            }
        });
        caller.start();
        return () -> {
            caller.interrupt();
            await().atMost(Duration.ofSeconds(20)).until(() -> !caller.isAlive());
            assertThat(thrown.get()).isInstanceOf(LockNotAcquiredException.class);
        };
    };

    private static final Way MONO =
            context -> context.getBean(Service.class).mono().subscribe()::dispose;

    private static final Way FLUX =
            context -> context.getBean(Service.class).flux().subscribe()::dispose;

    private static final Way SUSPENDING = context -> {
        CompletableFuture<String> call = SuspendingCalls.shipPatiently(context.getBean(SuspendingService.class), "1");
        return () -> assertThat(call.cancel(true)).isTrue();
    };

    private void giveUpWhileItIsGranted(Way way) {
        try (AnnotationConfigApplicationContext context =
                Contexts.start(LateClient.class, Service.class, SuspendingService.class)) {
            LateClient client = context.getBean(LateClient.class);
            Runnable giveUp = way.call(context);
            await().atMost(Duration.ofSeconds(20)).until(() -> client.waiting.get() == 1);
            giveUp.run();
            await().atMost(Duration.ofSeconds(20)).until(() -> client.late.get() == 1);
            await().atMost(Duration.ofSeconds(20))
                    .until(() -> other.inspect(LOCK).isFree());
        }
    }

    private void giveUpWhileItWaits(Way way) throws Exception {
        try (AnnotationConfigApplicationContext context =
                Contexts.start(WaitingClient.class, Service.class, SuspendingService.class)) {
            LockClient waiting = context.getBean(LockClient.class);
            try (Lease held = other.lock(LOCK).acquire()) {
                Runnable giveUp = way.call(context);
                await().atMost(Duration.ofSeconds(20))
                        .until(() -> waiting.snapshot().waiters().size() == 1);
                giveUp.run();
                assertThat(held.isValid()).isTrue();
            }
            // A call that was left behind would get the lock now, and keep it.
            assertThat(other.lock(LOCK).tryLock(Duration.ofSeconds(20))).isTrue();
            other.lock(LOCK).unlock();
        }
    }

    @Test
    void anInterruptedCallerOfAStageReleasesALockThatIsGrantedMeanwhile() {
        giveUpWhileItIsGranted(STAGE);
    }

    @Test
    void aCancelledMonoReleasesALockThatIsGrantedMeanwhile() {
        giveUpWhileItIsGranted(MONO);
    }

    @Test
    void aCancelledFluxReleasesALockThatIsGrantedMeanwhile() {
        giveUpWhileItIsGranted(FLUX);
    }

    @Test
    void aCancelledFunctionReleasesALockThatIsGrantedMeanwhile() {
        giveUpWhileItIsGranted(SUSPENDING);
    }

    @Test
    void anInterruptedCallerOfAStageLeavesNothingBehind() throws Exception {
        giveUpWhileItWaits(STAGE);
    }

    @Test
    void aCancelledMonoLeavesNothingBehind() throws Exception {
        giveUpWhileItWaits(MONO);
    }

    @Test
    void aCancelledFluxLeavesNothingBehind() throws Exception {
        giveUpWhileItWaits(FLUX);
    }

    @Test
    void aCancelledFunctionLeavesNothingBehind() throws Exception {
        giveUpWhileItWaits(SUSPENDING);
    }
}
