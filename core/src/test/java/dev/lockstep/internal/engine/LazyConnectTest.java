package dev.lockstep.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.Fallback;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockOptions;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.Permit;
import dev.lockstep.memory.MemoryEngine;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.BackendFactory;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Traits;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A client that connects in the background. */
@Timeout(60)
class LazyConnectTest {
    private final MemoryEngine memory = new MemoryEngine();
    private final AtomicInteger tries = new AtomicInteger();
    private volatile @Nullable RuntimeException refusal = new LockUnavailableException(null, "down");
    private volatile @Nullable Traits traits;

    private final BackendFactory engine = new BackendFactory() {
        @Override
        public LockBackend open(BackendContext context) {
            tries.incrementAndGet();
            RuntimeException thrown = refusal;
            if (thrown != null) {
                throw thrown;
            }
            LockBackend opened = memory.open(context);
            return traits == null ? opened : withTraits(opened, traits);
        }

        @Override
        public String address() {
            return "db.example:5432";
        }
    };

    private static LockBackend withTraits(LockBackend opened, Traits traits) {
        return (LockBackend) Proxy.newProxyInstance(
                LockBackend.class.getClassLoader(),
                new Class<?>[] {LockBackend.class},
                (self, method, arguments) ->
                        method.getName().equals("traits") ? traits : method.invoke(opened, arguments));
    }

    private LockClient.Builder builder() {
        return LockClient.builder()
                .backend(engine)
                .requestTimeout(Duration.ofMillis(500))
                .retryBackoff(Duration.ofMillis(5), Duration.ofMillis(20))
                .lazyConnect();
    }

    @Test
    void theClientIsThereWhileTheEngineIsDownAndLocksWhenItIsBack() throws Exception {
        try (LockClient client = builder().connect()) {
            assertThatThrownBy(() -> client.lock("a").lock())
                    .isInstanceOf(LockUnavailableException.class)
                    .hasMessageContaining("'a'")
                    .hasMessageContaining("db.example:5432");
            assertThatThrownBy(() -> client.lock("a").tryLock())
                    .isInstanceOf(LockUnavailableException.class)
                    .hasMessageContaining("db.example:5432");
            assertThatThrownBy(() -> client.inspect("a"))
                    .isInstanceOf(LockUnavailableException.class)
                    .hasMessageContaining("db.example:5432");
            refusal = null;
            try (Lease lease =
                    client.lock("a").tryAcquire(Duration.ofSeconds(20)).orElseThrow()) {
                assertThat(lease.token()).isPositive();
                assertThat(client.inspect("a").holders()).hasSize(1);
            }
            assertThat(memory.lockCount()).isZero();
        }
        assertThat(memory.sessionCount()).isZero();
    }

    @Test
    void aCallThatWaitsGetsTheLockWhenTheEngineIsBack() {
        try (LockClient client =
                builder().requestTimeout(Duration.ofSeconds(20)).connect()) {
            CompletableFuture<Lease> first = client.lock("a").acquireAsync();
            CompletableFuture<Lease> other =
                    client.lock("b", LockOptions.defaults().fair()).acquireAsync();
            CompletableFuture<Lease> cancelled = client.lock("c").acquireAsync();
            assertThat(cancelled.cancel(false)).isTrue();
            refusal = null;
            assertThat(first.join().isValid()).isTrue();
            assertThat(other.join().isValid()).isTrue();
            assertThat(client.lock("c").tryLock()).isTrue();
        }
    }

    @Test
    void connectDoesNotWaitForAnEngineThatIsSilent() throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch answers = new CountDownLatch(1);
        BackendFactory silent = context -> {
            asked.countDown();
            try {
                answers.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            return memory.open(context);
        };
        try (LockClient client =
                builder().backend(silent).executor(Runnable::run).connect()) {
            assertThat(asked.await(20, TimeUnit.SECONDS)).isTrue();
            assertThatThrownBy(() -> client.lock("a").lock()).isInstanceOf(LockUnavailableException.class);
            answers.countDown();
            assertThat(client.lock("a").tryLock(20, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void callsReportWrongSettingsUntilTheyAreRight() throws Exception {
        refusal = new LockConfigurationException(null, "The password is wrong.");
        try (LockClient client =
                builder().requestTimeout(Duration.ofSeconds(20)).connect()) {
            assertThatThrownBy(() -> client.lock("a").lock())
                    .isInstanceOfSatisfying(
                            LockConfigurationException.class,
                            e -> assertThat(e.lockName()).isEqualTo("a"))
                    .hasMessageContaining("The password is wrong.");
            assertThatThrownBy(client::describe)
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContaining("The password is wrong.");
            refusal = null;
            Awaitility.await().ignoreExceptions().until(() -> client.lock("a").tryLock());
        }
    }

    @Test
    void anOptionThatTheEngineLacksIsRefusedWhenThatIsKnown() {
        traits = Traits.of(Duration.ofMillis(1));
        long start = System.nanoTime();
        try (LockClient client =
                builder().requestTimeout(Duration.ofSeconds(20)).connect()) {
            var fair = client.lock("a", LockOptions.defaults().fair());
            var sticky = client.lock("b", LockOptions.defaults().sticky(Duration.ofSeconds(1)));
            var reader = client.readWriteLock("c").readLock();
            var semaphore = client.semaphore("e", 2);
            CompletableFuture<Lease> early = fair.acquireAsync();
            CompletableFuture<Permit> permit = semaphore.acquireAsync();
            refusal = null;
            assertThatThrownBy(early::join).hasCauseInstanceOf(LockConfigurationException.class);
            assertThatThrownBy(permit::join).hasCauseInstanceOf(LockConfigurationException.class);
            assertThatThrownBy(semaphore::tryAcquire).isInstanceOf(LockConfigurationException.class);
            assertThatThrownBy(sticky::lock).isInstanceOf(LockConfigurationException.class);
            assertThatThrownBy(reader::lock).isInstanceOf(LockConfigurationException.class);
            assertThatThrownBy(() -> client.lock("a", LockOptions.defaults().fair()))
                    .isInstanceOf(LockConfigurationException.class);
            assertThat(client.lock("d").tryLock()).isTrue();
        }
        assertThat(Duration.ofNanos(System.nanoTime() - start))
                .as("what was refused left nothing that the close would wait for")
                .isLessThan(Duration.ofSeconds(15));
    }

    @Test
    void aTtlBelowTheMinimumOfTheEngineIsRefused() {
        traits = Traits.of(Duration.ofMinutes(1))
                .withPush(true)
                .withReportsWanted(true)
                .withShared(true)
                .withFair(true);
        refusal = null;
        try (LockClient client =
                builder().requestTimeout(Duration.ofSeconds(20)).connect()) {
            assertThatThrownBy(() -> client.lock("a").lock())
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContaining("PT1M");
        }
    }

    @Test
    void aFallbackServesUntilTheEngineIsBack() throws Exception {
        Fallback fallback = Fallback.thisJvmOnly().after(Duration.ofMillis(100));
        try (LockClient client = builder().fallback(fallback).connect()) {
            try (Lease lease = client.lock("a").acquire()) {
                assertThat(lease.isFallback()).isTrue();
            }
            refusal = null;
            Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> {
                try (Lease lease = client.lock("a").acquire()) {
                    return !lease.isFallback();
                }
            });
        }
    }

    @Test
    void aClosedClientStopsTrying() {
        LockClient client = builder().connect();
        Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> tries.get() > 2);
        client.close();
        int known = tries.get();
        refusal = null;
        Awaitility.await()
                .during(Duration.ofMillis(200))
                .until(() -> tries.get() <= known + 1 && memory.sessionCount() == 0);
    }

    @Test
    void aMalformedUrlIsReportedAtOnce() {
        assertThatThrownBy(() ->
                        LockClient.builder().url("memory:a b").lazyConnect().connect())
                .isInstanceOf(LockConfigurationException.class);
    }
}
