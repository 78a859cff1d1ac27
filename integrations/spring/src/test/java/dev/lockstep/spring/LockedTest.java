package dev.lockstep.spring;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockLostAfterWorkException;
import dev.lockstep.LockMode;
import dev.lockstep.LockNotAcquiredException;
import dev.lockstep.LockOptions;
import dev.lockstep.LockTimeoutException;
import dev.lockstep.annotation.Locked;
import dev.lockstep.memory.MemoryEngine;
import java.io.IOException;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.AliasFor;

/** Methods that run under a lock. */
class LockedTest {
    private static AnnotationConfigApplicationContext context;
    private static LockClient locks;
    private static Shop shop;

    @BeforeAll
    static void start() {
        Awaitility.setDefaultTimeout(Duration.ofSeconds(20)); // a busy machine takes long
        context = Contexts.start(
                Map.of("shop.name", "corner"),
                Contexts.OneClient.class,
                Shop.class,
                WholeClass.class,
                WholeClassWithKey.class,
                Implementation.class);
        locks = context.getBean(LockClient.class);
        shop = context.getBean(Shop.class);
    }

    @AfterAll
    static void stop() {
        context.close();
    }

    record Order(@Nullable Long id, String customer) {}

    /** It has no text of its own. */
    static final class Parcel {}

    /** The state that a method sees while it runs. */
    static String held(LockClient locks) {
        return locks.list("").stream()
                .map(info -> info.name() + (info.holders().get(0).mode() == LockMode.SHARED ? "/shared" : ""))
                .sorted()
                .collect(Collectors.joining(" "));
    }

    /** An annotation of the application's own. */
    @Retention(RetentionPolicy.RUNTIME)
    @Locked(name = "customer", waitAtMost = "0s")
    @interface PerCustomer {
        @AliasFor(annotation = Locked.class, attribute = "key")
        String[] value();
    }

    static class Shop {
        private final LockClient locks;

        Shop(LockClient locks) {
            this.locks = locks;
        }

        @Locked(name = "order", key = "#order.id")
        public String ship(Order order) {
            return held(locks);
        }

        @Locked(name = "tick", minHold = "1h", onBusy = Locked.OnBusy.SKIP)
        public Optional<String> tick() {
            return Optional.of("ran");
        }

        @Locked(name = "bounded", maxHold = "20ms")
        public boolean bounded(@Nullable Lease lease) throws InterruptedException {
            CountDownLatch lost = new CountDownLatch(1);
            requireNonNull(lease).onLost(reason -> lost.countDown());
            return lost.await(20, TimeUnit.SECONDS);
        }

        @Locked(name = "queue", fair = true, waitAtMost = "20s")
        public void queue() {}

        @Locked(name = "plain")
        public String plain() {
            return held(locks);
        }

        @Locked(name = "${shop.name}", key = "'${shop.name}' + #a0")
        public String placeholders(int number) {
            return held(locks);
        }

        @Locked(
                name = "account",
                key = {"#from", "#to"})
        public String transfer(String from, String to) {
            return held(locks);
        }

        @Locked(name = "item", key = "#items")
        public String all(List<String> items, @Nullable Lease lease) {
            return held(locks) + " " + (requireNonNull(lease).token("item:b") > 0);
        }

        @Locked(name = "parcel", key = "#parcel")
        public String send(Object parcel) {
            return held(locks);
        }

        @Locked(name = "token", fenced = true)
        public long token(String unused, @Nullable Lease lease) {
            assertThat(requireNonNull(lease).isValid()).isTrue();
            return lease.token();
        }

        @Locked(name = "page", mode = Locked.Mode.READ)
        public String read() {
            return held(locks);
        }

        @Locked(name = "busy", waitAtMost = "10ms")
        public String throwing() {
            return "ran";
        }

        @Locked(name = "busy", onBusy = Locked.OnBusy.SKIP)
        public @Nullable String skipping() {
            return "ran";
        }

        @Locked(name = "busy", onBusy = Locked.OnBusy.SKIP)
        public void visit(List<String> seen) {
            seen.add(held(locks));
        }

        @Locked(name = "busy", onBusy = Locked.OnBusy.SKIP)
        public Optional<String> skippingOptional() {
            return Optional.of("ran");
        }

        @Locked(name = "busy", waitAtMost = "10ms", busyMethod = "instead")
        public int instead(int number, @Nullable Lease lease) {
            return number;
        }

        int instead(int number) {
            return -number;
        }

        @PerCustomer("#order.customer")
        public String forCustomer(Order order) {
            return held(locks);
        }

        @Locked(name = "lost")
        public String loses(Callable<?> loss) throws Exception {
            loss.call();
            return "done";
        }

        @Locked(name = "lost", fenced = true)
        public String losesFenced(Callable<?> loss) throws Exception {
            loss.call();
            return "done";
        }

        @Locked(name = "fails")
        public void fails() throws IOException {
            throw new IOException("disk");
        }

        @Locked(name = "outer")
        public String reentrant(Shop self) {
            return self.inner();
        }

        @Locked(name = "outer")
        public String inner() {
            return held(locks);
        }

        public String notLocked() {
            return held(locks);
        }
    }

    /** Its text is no business of its lock. */
    @Locked(name = "class", key = "#number")
    static class WholeClassWithKey {
        public int run(int number) {
            return number;
        }

        @Override
        public String toString() {
            return "text";
        }
    }

    @Locked(name = "class")
    static class WholeClass {
        private final LockClient locks;

        WholeClass(LockClient locks) {
            this.locks = locks;
        }

        public String usual() {
            return held(locks);
        }

        @Locked(name = "method")
        public String ownName() {
            return held(locks);
        }
    }

    interface Contract {
        @Locked(name = "contract", key = "#number")
        String run(int number);
    }

    static final class Implementation implements Contract {
        private final LockClient locks;

        Implementation(LockClient locks) {
            this.locks = locks;
        }

        @Override
        public String run(int number) {
            return held(locks);
        }
    }

    @Locked(name = "all", key = "#p0")
    interface WholeContract<T> {
        String run(T key);

        default String usual(T key) {
            return run(key);
        }
    }

    /** Its bridge method {@code run(Object)} is not another method. */
    static class WholeImplementation implements WholeContract<Integer> {
        private final LockClient locks;

        WholeImplementation(LockClient locks) {
            this.locks = locks;
        }

        @Override
        public String run(Integer key) {
            return held(locks);
        }
    }

    static class OpenImplementation implements Contract {
        private final LockClient locks;

        OpenImplementation(LockClient locks) {
            this.locks = locks;
        }

        @Override
        public String run(int number) {
            return held(locks);
        }
    }

    /** As Spring Boot does: proxies extend classes, even those with interfaces. */
    @Configuration(proxyBeanMethods = false)
    @EnableLocks(proxyTargetClass = true)
    static class ProxiesOfClasses {
        @Bean
        LockClient locks() {
            return LockClient.connect("memory:");
        }
    }

    @Test
    void annotationsOfInterfacesCountWhateverTheProxy() {
        for (Class<?> configuration : List.of(Contexts.OneClient.class, ProxiesOfClasses.class)) {
            try (AnnotationConfigApplicationContext own =
                    Contexts.start(configuration, WholeImplementation.class, OpenImplementation.class)) {
                WholeContract<Integer> whole = own.getBean(WholeContract.class);
                Contract contract = own.getBean(Contract.class);
                assertThat(List.of(Proxy.isProxyClass(whole.getClass()), Proxy.isProxyClass(contract.getClass())))
                        .containsOnly(configuration == Contexts.OneClient.class);
                assertThat(whole.run(3)).isEqualTo("all:3");
                assertThat(whole.usual(4)).isEqualTo("all:4");
                assertThat(contract.run(5)).isEqualTo("contract:5");
            }
        }
    }

    @Test
    void aMethodWithoutResultIsSkippedOrRunsUnderItsLock() throws Exception {
        List<String> seen = new ArrayList<>();
        shop.visit(seen);
        assertThat(seen).containsExactly("busy");
        try (Lease other = locks.lock("busy").acquireAsync().get()) {
            shop.visit(seen);
            assertThat(other.isValid()).isTrue();
        }
        assertThat(seen).hasSize(1);
        assertThat(locks.inspect("busy").isFree()).isTrue();
    }

    @Test
    void aMethodThatReturnsEarlyKeepsTheLockForItsMinimum() throws Exception {
        assertThat(shop.tick()).contains("ran");
        assertThat(shop.tick()).isEmpty();
        assertThat(locks.forceRelease("tick")).isTrue();
    }

    @Test
    void theLockOfNameAndKeyIsHeldWhileTheMethodRuns() {
        assertThat(shop.ship(new Order(42L, "eve"))).isEqualTo("order:42");
        assertThat(shop.plain()).isEqualTo("plain");
        assertThat(shop.placeholders(7)).isEqualTo("corner:corner7");
        assertThat(shop.notLocked()).isEmpty();
        assertThat(locks.list("")).isEmpty();
    }

    @Test
    void severalKeysAreLockedTogether() {
        assertThat(shop.transfer("a", "b")).isEqualTo("account:a account:b");
        assertThat(shop.transfer("a", "a")).isEqualTo("account:a");
        assertThat(shop.all(new ArrayList<>(List.of("a", "b")), null)).isEqualTo("item:a item:b true");
        assertThatThrownBy(() -> shop.all(List.of(), null))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining("is empty");
    }

    @Test
    void aHoldEndsWithItsMaximum() {
        assertThatThrownBy(() -> shop.bounded(null))
                .isInstanceOfSatisfying(
                        LockLostAfterWorkException.class,
                        e -> assertThat(e.result()).isEqualTo(true));
    }

    /** Of an unfair lock, the engine would know one waiter of this client. */
    @Test
    void eachCallOfAFairLockWaitsInTheQueue() throws Exception {
        ExecutorService threads = Executors.newCachedThreadPool();
        List<Future<?>> calls = new ArrayList<>();
        try (Lease other = locks.lock("queue", LockOptions.defaults().fair())
                .acquireAsync()
                .get()) {
            calls.add(threads.submit(shop::queue));
            calls.add(threads.submit(shop::queue));
            await().atMost(Duration.ofSeconds(20))
                    .until(() -> locks.inspect("queue").waiters().size() == 2);
            assertThat(other.isValid()).isTrue();
        }
        for (Future<?> call : calls) {
            call.get();
        }
        threads.shutdown();
    }

    @Test
    void aReaderSharesTheLock() throws Exception {
        assertThat(shop.read()).isEqualTo("page/shared");
        try (Lease other = locks.readWriteLock("page").readLock().acquireAsync().get()) {
            assertThat(shop.read()).isEqualTo("page/shared");
        }
    }

    @Test
    void aLeaseParameterReceivesTheLease() {
        long first = shop.token("x", null);
        assertThat(shop.token("x", null)).isGreaterThan(first);
    }

    @Test
    void aBusyLockIsThrownSkippedOrAnsweredByAMethod() throws Exception {
        try (Lease other = locks.lock("busy").acquireAsync().get()) {
            assertThatThrownBy(() -> shop.throwing())
                    .isInstanceOf(LockTimeoutException.class)
                    .hasMessageContaining("'busy' is held by client");
            assertThat(shop.skipping()).isNull();
            assertThat(shop.skippingOptional()).isEmpty();
            assertThat(shop.instead(5, null)).isEqualTo(-5);
        }
        assertThat(shop.throwing()).isEqualTo("ran");
        assertThat(shop.skipping()).isEqualTo("ran");
        assertThat(shop.skippingOptional()).contains("ran");
        assertThat(shop.instead(5, null)).isEqualTo(5);
    }

    @Test
    void annotationsOfAnnotationsClassesAndInterfacesCount() {
        assertThat(shop.forCustomer(new Order(1L, "eve"))).isEqualTo("customer:eve");
        WholeClass whole = context.getBean(WholeClass.class);
        assertThat(whole.usual()).isEqualTo("class");
        assertThat(whole.ownName()).isEqualTo("method");
        assertThat(context.getBean(WholeClassWithKey.class)).hasToString("text");
        Contract contract = context.getBean(Contract.class);
        assertThat(Proxy.isProxyClass(contract.getClass())).isTrue();
        assertThat(contract.run(3)).isEqualTo("contract:3");
    }

    @Test
    void aThreadMayEnterItsLockAgain() {
        assertThat(shop.reentrant(shop)).isEqualTo("outer");
    }

    @Test
    void aLossIsThrownWithTheResultUnlessTheMethodIsFenced() throws Exception {
        Callable<?> loss = () -> locks.forceRelease("lost");
        assertThatThrownBy(() -> shop.loses(loss))
                .isInstanceOfSatisfying(
                        LockLostAfterWorkException.class,
                        e -> assertThat(e.result()).isEqualTo("done"));
        assertThat(shop.losesFenced(loss)).isEqualTo("done");
    }

    /** A client whose requests end soon, and whose engine goes away when a test says so. */
    @Configuration(proxyBeanMethods = false)
    @EnableLocks
    static class OneEngine {
        @Bean
        MemoryEngine engine() {
            return new MemoryEngine();
        }

        @Bean
        LockClient locks(MemoryEngine engine) {
            return LockClient.builder()
                    .backend(engine)
                    .requestTimeout(Duration.ofMillis(500))
                    .connect();
        }
    }

    @Test
    void aReleaseThatIsNotConfirmedDoesNotLoseTheResult() throws Exception {
        try (AnnotationConfigApplicationContext own =
                Contexts.start(Map.of("shop.name", "corner"), OneEngine.class, Shop.class)) {
            MemoryEngine engine = own.getBean(MemoryEngine.class);
            String result = own.getBean(Shop.class).loses(() -> {
                engine.disconnect(MemoryEngine.Outage.REQUESTS_LOST);
                return true;
            });
            assertThat(result).isEqualTo("done");
            engine.reconnect();
        }
    }

    @Test
    void exceptionsOfTheMethodAreUnchanged() {
        assertThatThrownBy(() -> shop.fails())
                .isExactlyInstanceOf(IOException.class)
                .hasMessage("disk");
        assertThat(locks.list("")).isEmpty();
    }

    @Test
    void aKeyWithoutValueIsAnErrorThatNamesIt() {
        assertThatThrownBy(() -> shop.ship(new Order(null, "eve")))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining("Shop.ship(Order)")
                .hasMessageContaining("the key '#order.id' is null")
                .hasMessageContaining("did not run");
        assertThatThrownBy(() -> shop.forCustomer(new Order(1L, "")))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining("is empty");
        for (Object parcel : List.of(
                new Parcel(), List.of("a", new Parcel()), new Parcel[] {new Parcel()}, List.of(new int[] {1}))) {
            assertThatThrownBy(() -> shop.send(parcel))
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContaining("Shop.send(Object)")
                    .hasMessageContaining("the key '#parcel' has no text that is the same in every process")
                    .hasMessageContaining("use a property, as in #order.id")
                    .hasMessageContaining("did not run");
        }
        assertThat(shop.send(new int[] {1, 2})).isEqualTo("parcel:1 parcel:2");
    }

    @Test
    void anInterruptedCallerKnowsThatTheMethodDidNotRun() throws Exception {
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> shop.throwing()).isInstanceOf(LockNotAcquiredException.class);
        assertThat(Thread.interrupted()).isTrue();
    }
}
