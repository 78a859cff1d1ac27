package dev.lockstep.cdi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockCallback;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockLostAfterWorkException;
import dev.lockstep.LockNotAcquiredException;
import dev.lockstep.LockObserver;
import dev.lockstep.LockTemplate;
import dev.lockstep.LockTimeoutException;
import dev.lockstep.annotation.Locked;
import dev.lockstep.test.TestEngine;
import jakarta.annotation.Priority;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.context.SessionScoped;
import jakarta.enterprise.inject.Disposes;
import jakarta.enterprise.inject.Produces;
import jakarta.enterprise.inject.se.SeContainer;
import jakarta.enterprise.inject.se.SeContainerInitializer;
import jakarta.inject.Inject;
import jakarta.inject.Named;
import jakarta.inject.Qualifier;
import jakarta.interceptor.AroundInvoke;
import jakarta.interceptor.Interceptor;
import jakarta.interceptor.InterceptorBinding;
import jakarta.interceptor.InvocationContext;
import java.io.IOException;
import java.io.Serializable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** {@code @Locked} in Weld. */
class LockedTest {
    private SeContainer container;
    private Shop shop;
    private LockClient other;

    @BeforeEach
    void start() {
        container = SeContainerInitializer.newInstance()
                .disableDiscovery()
                .addBeanClasses(Clients.class, Shop.class, Prices.class, Cart.class, TransactionInterceptor.class)
                .initialize();
        shop = container.select(Shop.class).get();
        other = LockClient.builder().backend(Clients.ENGINE.withoutFaults()).connect();
    }

    @AfterEach
    void stop() {
        other.close();
        container.close();
    }

    @Test
    void theMethodRunsUnderItsLockAndReleasesIt() {
        assertThat(shop.ship(new Order(42, new Customer("Ann")), null)).isPositive();
        assertThat(shop.seen()).containsExactlyInAnyOrder("order:42");
        assertThat(other.lock("order:42").tryLock()).isTrue();
    }

    @Test
    void keysArePropertiesOfParametersAndSeveralAreLockedTogether() {
        shop.greet(new Order(42, new Customer("Ann")));
        assertThat(shop.seen()).containsExactlyInAnyOrder("customer:Ann", "customer:42");
        shop.all(List.of(1, 2));
        assertThat(shop.seen()).containsExactlyInAnyOrder("order:1", "order:2");
        shop.each(new int[] {3});
        assertThat(shop.seen()).containsExactlyInAnyOrder("order:3");
    }

    @Test
    void aKeyWithoutAValueIsAnErrorAndTheMethodDoesNotRun() {
        assertThatThrownBy(() -> shop.greet(new Order(42, null)))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining("Shop.greet(Order)")
                .hasMessageContaining("'#order.customer.name' is null. The method did not run.");
        assertThatThrownBy(() -> shop.all(List.of())).hasMessageContaining("is empty. The method did not run.");
        assertThat(shop.seen()).isEmpty();
    }

    @Test
    void aKeyWhoseTextDiffersInEachProcessIsAnError() {
        assertThatThrownBy(() -> shop.any(new Object()))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining("'#key' is a java.lang.Object, whose text differs in each process");
        assertThatThrownBy(() -> shop.any(List.of("a", new int[0][0])))
                .hasMessageContaining("has no toString()")
                .hasMessageContaining("The method did not run.");
        assertThat(shop.seen()).isEmpty();
        shop.any(new Customer("Ann"));
        assertThat(shop.seen()).containsExactly("any:Customer[name=Ann]");
    }

    @Test
    void theNameIsTheGroupOfItsLocks() {
        shop.keyOnSpare(42);
        assertThat(container.select(Clients.class).get().groups()).containsEntry("on spare:42", "on spare");
    }

    @Test
    void aThreadCanEnterAgain() {
        assertThat(shop.outer(shop)).isEqualTo("inner");
    }

    @Test
    void aBusyLockIsWaitedForAndThenReportedOrSkipped() throws Exception {
        try (Lease held = other.lock("busy").acquire()) {
            assertThatThrownBy(() -> shop.impatient())
                    .isInstanceOf(LockTimeoutException.class)
                    .hasMessageContaining("'busy'");
            assertThat(shop.skipped()).isEmpty();
            assertThat(shop.skippedStage().toCompletableFuture().get()).isNull();
            assertThat(shop.replaced("x", null)).isEqualTo("busy, x");
            assertThat(held.isValid()).isTrue();
        }
        assertThat(shop.skipped()).contains("done");
        assertThat(shop.replaced("x", null)).isEqualTo("done, x");
    }

    /** A timeout of the method's own is not this lock's. */
    @Test
    void aTimeoutThatTheMethodThrowsIsNotSkipped() {
        assertThatThrownBy(() -> shop.throwsTimeout())
                .isInstanceOf(LockTimeoutException.class)
                .hasMessage("the method's own");
    }

    @Test
    void aStageHoldsTheLockUntilItIsDone() throws Exception {
        CompletableFuture<String> work = new CompletableFuture<>();
        CompletionStage<String> stage = shop.later(work);
        assertThat(other.lock("later").tryLock()).isFalse();
        work.complete("done");
        assertThat(stage.toCompletableFuture().get(20, TimeUnit.SECONDS)).isEqualTo("done");
        assertThat(other.lock("later").tryLock(Duration.ofSeconds(20))).isTrue();
    }

    @Test
    void aStageThatFailsAndAMethodThatThrowsReleaseTheLock() throws Exception {
        assertThat(shop.later(CompletableFuture.failedFuture(new IOException("disk")))
                        .toCompletableFuture())
                .failsWithin(Duration.ofSeconds(20))
                .withThrowableThat()
                .havingRootCause()
                .isInstanceOf(IOException.class);
        assertThatThrownBy(() -> shop.later(null)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> shop.fail()).isInstanceOf(IOException.class).hasMessage("disk");
        assertThat(other.lock("later").tryLock(Duration.ofSeconds(20))).isTrue();
        assertThat(other.lock("fail").tryLock()).isTrue();
    }

    @Test
    void aLossIsThrownWithTheResultUnlessTheMethodIsFenced() {
        assertThatThrownBy(() -> shop.loses())
                .isInstanceOfSatisfying(
                        LockLostAfterWorkException.class,
                        lost -> assertThat(lost.result()).isEqualTo("done"));
        assertThat(shop.losesFenced()).isEqualTo("done");
    }

    @Test
    void anInterruptWhileWaitingIsKept() throws Exception {
        try (Lease held = other.lock("busy").acquire()) {
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> shop.impatient()).isInstanceOf(LockNotAcquiredException.class);
            assertThat(Thread.interrupted()).isTrue();
            assertThat(held.isValid()).isTrue();
        }
    }

    @Test
    void aLockThatIsAcquiredWhileItsCallIsInterruptedIsReleased() throws Exception {
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> shop.late()).isInstanceOf(LockNotAcquiredException.class);
        assertThat(Thread.interrupted()).isTrue();
        assertThat(other.lock("late").tryLock(Duration.ofSeconds(20))).isTrue();
    }

    @Test
    void onAClassItAppliesToPublicMethodsAndReadersRunTogether() throws Exception {
        Prices prices = container.select(Prices.class).get();
        try (Lease reader = other.readWriteLock("prices").readLock().acquire()) {
            assertThat(prices.read()).isEqualTo("read");
            assertThatThrownBy(prices::write).isInstanceOf(LockTimeoutException.class);
            assertThat(prices.unlocked()).isEqualTo("unlocked");
            assertThat(reader.isValid()).isTrue();
        }
    }

    @Test
    void aNamedClientIsUsed() {
        assertThat(shop.onSpare()).isEqualTo("spare");
    }

    /** The interceptor of Jakarta Transactions has this priority. */
    @Test
    void theLockIsAcquiredBeforeATransactionBeginsAndReleasedAfterItsEnd() {
        shop.transactional();
        assertThat(TransactionInterceptor.freeAtBegin).isFalse();
        assertThat(TransactionInterceptor.freeAtEnd).isFalse();
    }

    record Customer(String name) {}

    record Order(int id, @Nullable Customer customer) {}

    @Retention(RetentionPolicy.RUNTIME)
    @InterceptorBinding
    @interface Transactional {}

    @Retention(RetentionPolicy.RUNTIME)
    @Qualifier
    @interface Spare {}

    @Retention(RetentionPolicy.RUNTIME)
    @Qualifier
    @interface Late {}

    @Transactional
    @Interceptor
    @Priority(Interceptor.Priority.PLATFORM_BEFORE + 200)
    static class TransactionInterceptor {
        static boolean freeAtBegin;
        static boolean freeAtEnd;

        @Inject
        LockClient locks;

        @AroundInvoke
        Object call(InvocationContext invocation) throws Exception {
            freeAtBegin = locks.inspect("transactional").isFree();
            Object result = invocation.proceed();
            freeAtEnd = locks.inspect("transactional").isFree();
            return result;
        }
    }

    @ApplicationScoped
    static class Clients {
        static final TestEngine ENGINE = TestEngine.memory();

        private final Map<String, String> groups = new ConcurrentHashMap<>();

        /** The locks that were taken with the spare client. */
        Map<String, String> groups() {
            return groups;
        }

        // tag::cdi-producer
        @Produces
        @ApplicationScoped
        LockClient locks() {
            return LockClient.builder().backend(ENGINE).connect(); // or LockClient.connect("redis://…")
        }

        void close(@Disposes LockClient locks) {
            locks.close();
        }
        // end::cdi-producer

        /** Its templates acquire the lock when their call is cancelled. */
        @Produces
        @ApplicationScoped
        @Late
        @Named("late")
        LockClient late() {
            LockClient client = LockClient.builder().backend(ENGINE).connect();
            return (LockClient) Proxy.newProxyInstance(
                    LockClient.class.getClassLoader(),
                    new Class<?>[] {LockClient.class},
                    (proxy, method, arguments) -> {
                        Object result = method.invoke(client, arguments);
                        return result instanceof LockTemplate template ? new LateTemplate(template) : result;
                    });
        }

        void closeLate(@Disposes @Late LockClient late) {
            late.close();
        }

        /** With a name alone it would be a default client, too. */
        @Produces
        @ApplicationScoped
        @Spare
        @Named("spare")
        LockClient spare() {
            return LockClient.builder()
                    .backend(ENGINE)
                    .clientName("spare")
                    .observer(new LockObserver() {
                        @Override
                        public CallObserver callStarted(Call call) {
                            groups.put(call.lockName(), call.options().group().orElse("none"));
                            return CallObserver.NONE;
                        }
                    })
                    .connect();
        }

        void closeSpare(@Disposes @Spare LockClient spare) {
            spare.close();
        }
    }

    record LateTemplate(LockTemplate template) implements LockTemplate {
        @Override
        public <T extends @Nullable Object> CompletableFuture<T> executeAsync(
                DistributedLock lock, Function<Lease, ? extends CompletionStage<T>> work) {
            return new CompletableFuture<>() {
                @Override
                public boolean cancel(boolean mayInterruptIfRunning) {
                    CompletableFuture<Void> acquired = new CompletableFuture<>();
                    CompletableFuture<T> call = template.executeAsync(lock, lease -> {
                        CompletionStage<T> begun = work.apply(lease);
                        acquired.complete(null);
                        return begun;
                    });
                    acquired.join();
                    call.cancel(false);
                    return super.cancel(mayInterruptIfRunning);
                }
            };
        }

        @Override
        public LockTemplate waitAtMost(Duration wait) {
            return new LateTemplate(template.waitAtMost(wait));
        }

        @Override
        public LockTemplate fenced() {
            return new LateTemplate(template.fenced());
        }

        @Override
        public <T extends @Nullable Object, E extends Exception> T execute(String name, LockCallback<T, E> work) {
            throw new UnsupportedOperationException();
        }

        @Override
        public <T extends @Nullable Object, E extends Exception> T execute(
                DistributedLock lock, LockCallback<T, E> work) {
            throw new UnsupportedOperationException();
        }

        @Override
        public <T extends @Nullable Object> CompletableFuture<T> executeAsync(
                String name, Function<Lease, ? extends CompletionStage<T>> work) {
            throw new UnsupportedOperationException();
        }
    }

    @ApplicationScoped
    static class Shop {
        private @Inject LockClient locks;
        private List<String> seen = List.of();

        List<String> seen() {
            return seen;
        }

        // tag::cdi-locked
        @Locked(name = "order", key = "#order.id") // locks order:42
        public long ship(Order order, @Nullable Lease lease) {
            // end::cdi-locked
            look();
            return lease == null ? -1 : lease.token();
        }

        @Locked(
                name = "customer",
                key = {"#order.customer.name", "#a0.id"})
        public void greet(Order order) {
            look();
        }

        @Locked(name = "any", key = "#key")
        public void any(Object key) {
            look();
        }

        @Locked(name = "order", key = "#ids")
        public void all(List<Integer> ids) {
            look();
        }

        @Locked(name = "order", key = "#ids")
        public void each(int[] ids) {
            look();
        }

        private void look() {
            seen = locks.list("").stream().map(info -> info.name()).toList();
        }

        @Locked(name = "again")
        public String outer(Shop self) {
            return self.inner();
        }

        @Locked(name = "again", waitAtMost = "0s")
        public String inner() {
            return "inner";
        }

        @Locked(name = "busy", waitAtMost = "50ms")
        public void impatient() {}

        @Locked(name = "busy", onBusy = Locked.OnBusy.SKIP)
        public Optional<String> skipped() {
            return Optional.of("done");
        }

        @Locked(name = "busy", onBusy = Locked.OnBusy.SKIP)
        public CompletionStage<String> skippedStage() {
            return CompletableFuture.completedFuture("done");
        }

        @Locked(name = "busy", waitAtMost = "10ms", busyMethod = "instead")
        public String replaced(String text, @Nullable Lease lease) {
            return lease == null ? "no lease" : "done, " + text;
        }

        private String instead(String text) {
            return "busy, " + text;
        }

        @Locked(name = "own timeout", onBusy = Locked.OnBusy.SKIP)
        public void throwsTimeout() {
            throw new LockTimeoutException("another", "the method's own");
        }

        @Locked(name = "later")
        public CompletionStage<String> later(@Nullable CompletableFuture<String> work) {
            if (work == null) {
                throw new IllegalStateException("no work");
            }
            return work;
        }

        @Locked(name = "fail")
        public void fail() throws IOException {
            throw new IOException("disk");
        }

        @Locked(name = "loses")
        public String loses() {
            Clients.ENGINE.loseLock("loses");
            return "done";
        }

        @Locked(name = "loses", fenced = true)
        public String losesFenced() {
            Clients.ENGINE.loseLock("loses");
            return "done";
        }

        @Locked(name = "on spare", client = "spare")
        public String onSpare() {
            return locks.inspect("on spare").holders().get(0).holder().client();
        }

        @Locked(name = "on spare", key = "#key", client = "spare")
        public void keyOnSpare(int key) {}

        @Locked(name = "late", client = "late")
        public CompletionStage<String> late() {
            throw new IllegalStateException("the call was interrupted");
        }

        @Locked(name = "transactional")
        @Transactional
        public void transactional() {}
    }

    @Locked(name = "prices", waitAtMost = "50ms")
    @ApplicationScoped
    static class Prices {
        @Locked(name = "prices", mode = Locked.Mode.READ)
        public String read() {
            return "read";
        }

        public void write() {}

        String unlocked() {
            return "unlocked";
        }
    }

    /** A scope that can be written to disk, which asks the same of the interceptor. */
    @SessionScoped
    static class Cart implements Serializable {
        private static final long serialVersionUID = 1L;

        @Locked(name = "cart")
        public void add() {}
    }
}
