package dev.lockstep.internal.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockInfo;
import dev.lockstep.LockLostAfterWorkException;
import dev.lockstep.LockTemplate;
import dev.lockstep.LockTimeoutException;
import dev.lockstep.internal.Undeclared;
import dev.lockstep.memory.MemoryEngine;
import dev.lockstep.spi.BackendFactory;
import dev.lockstep.spi.LockBackend;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Templates for every kind of lock and of work. */
class TemplateTest {
    private final MemoryEngine engine = new MemoryEngine();
    private final LockClient client = LockClient.builder().backend(engine).connect();
    private final LockClient rival = LockClient.builder().backend(engine).connect();
    private final LockTemplate template = client.template().waitAtMost(Duration.ofMillis(50));

    @AfterEach
    void close() {
        client.close();
        rival.close();
    }

    private boolean isFree(String name) {
        return client.inspect(name).isFree();
    }

    @Test
    void workWithoutAResult() throws Exception {
        List<Lease> seen = new ArrayList<>();
        template.run("order:42", seen::add);
        assertThat(seen).singleElement().matches(lease -> !lease.isValid());
        assertThatThrownBy(() -> template.run("order:42", lease -> {
                    throw new IOException("on purpose");
                }))
                .isInstanceOf(IOException.class);
        assertThat(isFree("order:42")).isTrue();
    }

    @Test
    void readLocks() throws Exception {
        rival.readWriteLock("prices").readLock().lock();
        String read = template.execute(client.readWriteLock("prices").readLock(), lease -> "read");
        assertThat(read).isEqualTo("read");
        assertThatThrownBy(() -> template.execute("prices", lease -> "written"))
                .isInstanceOf(LockTimeoutException.class);
        rival.readWriteLock("prices").readLock().unlock();
    }

    @Test
    void multiLocks() throws Exception {
        rival.lock("b").lock();
        assertThatThrownBy(() -> template.run(client.multiLock("a", "b"), lease -> {}))
                .isInstanceOf(LockTimeoutException.class)
                .hasMessageContaining("held by client " + rival.name());
        rival.lock("b").unlock();
        template.run(
                client.multiLock("a", "b"),
                lease -> assertThat(lease.token("b")).isPositive());
        assertThat(isFree("a") && isFree("b")).isTrue();
    }

    /** An engine that answers questions about locks as the test wants; all else is the memory engine's. */
    private BackendFactory answering(Function<String, CompletionStage<LockInfo>> inspection) {
        return context -> {
            LockBackend memory = engine.open(context);
            return (LockBackend) Proxy.newProxyInstance(
                    LockBackend.class.getClassLoader(),
                    new Class<?>[] {LockBackend.class},
                    (self, method, arguments) -> method.getName().equals("inspect")
                            ? inspection.apply((String) arguments[0])
                            : method.invoke(memory, arguments));
        };
    }

    private static LockTimeoutException busy(LockClient client, DistributedLock lock) {
        return catchThrowableOfType(
                LockTimeoutException.class,
                () -> client.template().waitAtMost(Duration.ZERO).run(lock, lease -> {}));
    }

    /** A hundred names are no hundred requests, and those few are made at once. */
    @Test
    void aFewHoldersOfABusyMultiLockAreAskedForTogether() {
        String[] names = IntStream.range(100, 200).mapToObj(i -> "lock-" + i).toArray(String[]::new);
        rival.lock("lock-104").lock();
        List<String> asked = new ArrayList<>();
        CompletableFuture<Void> allAsked = new CompletableFuture<>();
        BackendFactory engine = answering(name -> {
            asked.add(name);
            if (asked.size() == 10) {
                allAsked.complete(null);
            }
            return allAsked.thenApply(done -> rival.inspect(name));
        });
        try (LockClient client = LockClient.builder()
                .backend(engine)
                .requestTimeout(Duration.ofSeconds(20))
                .connect()) {
            assertThat(busy(client, client.multiLock(names)))
                    .hasMessageContaining("'lock-103': it is free by now")
                    .hasMessageContaining("'lock-104': held by client " + rival.name())
                    .hasMessageContaining("90 more");
            assertThat(asked).containsExactlyElementsOf(List.of(names).subList(0, 10));
        }
        rival.lock("lock-104").unlock();
    }

    @Test
    void aHolderThatTheEngineDoesNotNameIsUnknown() {
        rival.lock("b").lock();
        BackendFactory engine = answering(name -> switch (name) {
            case "a" -> new CompletableFuture<>();
            case "c" -> throw new IllegalStateException("broken");
            default -> CompletableFuture.completedFuture(rival.inspect(name));
        });
        try (LockClient client = LockClient.builder()
                .backend(engine)
                .requestTimeout(Duration.ofMillis(500))
                .connect()) {
            assertThat(busy(client, client.multiLock("a", "b", "c")))
                    .hasMessageContaining("'a': its holder is unknown: no answer")
                    .hasMessageContaining("'b': held by client " + rival.name())
                    .hasMessageContaining("'c': its holder is unknown: broken");
        }
        rival.lock("b").unlock();
    }

    @Test
    void asynchronousWorkHoldsTheLockUntilItsStageIsDone() throws Exception {
        CompletableFuture<String> working = new CompletableFuture<>();
        CompletableFuture<String> result = template.executeAsync("order:42", lease -> working);
        Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> !isFree("order:42"));
        assertThatThrownBy(() ->
                        template.executeAsync("order:42", lease -> working).get(20, TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class)
                .hasCauseInstanceOf(LockTimeoutException.class);
        working.complete("done");
        assertThat(result.get(20, TimeUnit.SECONDS)).isEqualTo("done");
        assertThat(isFree("order:42")).isTrue();
    }

    @Test
    void anExceptionOfAsynchronousWorkIsUnchanged() {
        IllegalStateException failure = new IllegalStateException("on purpose");
        assertThatThrownBy(() -> template.executeAsync("a", lease -> CompletableFuture.failedFuture(failure))
                        .get(20, TimeUnit.SECONDS))
                .hasCause(failure);
        assertThatThrownBy(() -> template.executeAsync("a", lease -> {
                            throw failure;
                        })
                        .get(20, TimeUnit.SECONDS))
                .hasCause(failure);
        IOException undeclared = new IOException("on purpose");
        assertThatThrownBy(() -> template.executeAsync("a", lease -> Undeclared.fail(undeclared))
                        .get(20, TimeUnit.SECONDS))
                .hasCause(undeclared);
        assertThat(isFree("a")).isTrue();
    }

    @Test
    void aLossAfterAsynchronousWorkHasItsResult() throws Exception {
        CompletableFuture<String> working = new CompletableFuture<>();
        CompletableFuture<String> result = template.executeAsync("a", lease -> working);
        CompletableFuture<String> fenced = template.fenced().executeAsync("b", lease -> working);
        Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> !isFree("a") && !isFree("b"));
        rival.forceRelease("a");
        rival.forceRelease("b");
        working.complete("done");
        assertThatThrownBy(() -> result.get(20, TimeUnit.SECONDS))
                .cause()
                .isInstanceOfSatisfying(
                        LockLostAfterWorkException.class,
                        lost -> assertThat(lost.result()).isEqualTo("done"));
        assertThat(fenced.get(20, TimeUnit.SECONDS)).isEqualTo("done");
    }

    @Test
    void aCancelledCallGivesUp() {
        rival.lock("order:42").lock();
        CompletableFuture<String> result =
                template.waitAtMost(Duration.ofHours(1)).executeAsync("order:42", lease -> new CompletableFuture<>());
        Awaitility.await()
                .atMost(Duration.ofSeconds(20))
                .until(() -> client.inspect("order:42").waiters().size() == 1);
        result.cancel(true);
        Awaitility.await()
                .atMost(Duration.ofSeconds(20))
                .until(() -> client.inspect("order:42").waiters().isEmpty());
        rival.lock("order:42").unlock();
        assertThat(isFree("order:42")).isTrue();
    }
}
