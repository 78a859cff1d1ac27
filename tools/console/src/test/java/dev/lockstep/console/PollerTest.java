package dev.lockstep.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.memory.MemoryEngine;
import dev.lockstep.spi.BackendFactory;
import dev.lockstep.spi.LockBackend;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How often the engine is asked. */
@Timeout(120)
class PollerTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final MemoryEngine engine = new MemoryEngine();

    private LockClient client(String name) {
        return client(name, Duration.ofSeconds(10));
    }

    private LockClient client(String name, Duration requestTimeout) {
        return LockClient.builder()
                .backend(engine)
                .clientName(name)
                .requestTimeout(requestTimeout)
                .connect();
    }

    @Test
    void manyReadersCauseNoMoreLooks() {
        try (LockClient client = client("operator");
                Console console = Console.builder(client).mount()) {
            Poller poller = console.poller();
            Sample first = poller.watch();
            List<CompletableFuture<Void>> readers = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                readers.add(CompletableFuture.runAsync(() -> {
                    while (poller.watch().version() < first.version() + 2) {
                        console.read("api/now", Map.of());
                        poller.await(poller.watch().version(), Duration.ofMillis(20));
                    }
                }));
            }
            Sample second = poller.await(first.version(), PATIENCE);
            Sample third = poller.await(second.version(), PATIENCE);
            readers.forEach(CompletableFuture::join);
            // This thread, too, may miss one on a busy machine.
            assertThat(third.version()).isGreaterThan(second.version());
            assertThat(Duration.between(second.at(), third.at()))
                    .isGreaterThan(Duration.ofMillis(900).multipliedBy(third.version() - second.version()));
        }
    }

    @Test
    void aSlowEngineIsAskedLessOften() {
        try (LockClient client = client("operator")) {
            client.ping();
            engine.delayReplies(Duration.ofMillis(100));
            try (Console console = Console.builder(client).mount()) {
                Sample second = console.poller().await(console.poller().watch().version(), PATIENCE);
                assertThat(second.cost().took()).isGreaterThan(Duration.ofMillis(95));
                assertThat(second.cost().pause()).isGreaterThan(Duration.ofMillis(1_800));
                assertThat(second.cost().share()).isLessThanOrEqualTo(0.0501);
            }
        }
    }

    /** An engine that answers a ping at once, and fails each listing after a time. */
    private LockClient clientWhoseListingsFail(Duration after) {
        BackendFactory factory = context -> {
            LockBackend backend = engine.open(context);
            return (LockBackend) Proxy.newProxyInstance(
                    getClass().getClassLoader(), new Class<?>[] {LockBackend.class}, (proxy, method, arguments) -> {
                        if (method.getName().equals("admin")) {
                            return proxy; // which lists, too
                        }
                        if (method.getName().equals("list")) {
                            Executor later = CompletableFuture.delayedExecutor(after.toMillis(), TimeUnit.MILLISECONDS);
                            return CompletableFuture.supplyAsync(
                                    () -> {
                                        throw new IllegalStateException("too many locks");
                                    },
                                    later);
                        }
                        try {
                            return method.invoke(backend, arguments);
                        } catch (InvocationTargetException e) {
                            throw e.getCause();
                        }
                    });
        };
        return LockClient.builder().backend(factory).clientName("operator").connect();
    }

    @Test
    void anEngineWhoseListingsFailLateIsAskedLessOften() {
        try (LockClient client = clientWhoseListingsFail(Duration.ofMillis(200));
                Console console = Console.builder(client).namespace("shop").mount()) {
            Sample failed = console.poller().await(0, PATIENCE);
            assertThat(failed.engine().error()).contains("too many locks");
            assertThat(failed.engine().ping()).isPresent();
            assertThat(failed.cost().pause()).isBetween(Duration.ofMillis(19 * 195), Duration.ofMinutes(1));
        }
    }

    @Test
    void anEngineThatDoesNotAnswerIsAskedAgainAfterAnInterval() {
        try (LockClient client = client("operator", Duration.ofSeconds(1))) {
            engine.disconnect("operator", MemoryEngine.Outage.REPLIES_LOST);
            try (Console console = Console.builder(client).mount()) {
                Sample failed = console.poller().await(0, PATIENCE);
                assertThat(failed.engine().ping()).isEmpty();
                assertThat(failed.cost().pause()).isEqualTo(Duration.ofSeconds(1));
            }
            engine.reconnect("operator");
        }
    }

    @Test
    void whileTheEngineIsDownTheLastAnswerIsKept() throws InterruptedException {
        try (LockClient client = client("operator");
                LockClient holder = client("api-1")) {
            Lease lease = holder.lock("order:42").acquire();
            try (Console console = Console.builder(client).mount()) {
                Poller poller = console.poller();
                assertThat(poller.watch().locks()).hasSize(1);
                engine.disconnect("operator", MemoryEngine.Outage.REPLIES_LOST);
                Sample down = poller.watch();
                while (down.engine().isReachable()) {
                    down = poller.await(down.version(), PATIENCE);
                }
                assertThat(down.locks()).hasSize(1);
                assertThat(down.engine().error()).isNotEmpty();
                assertThat(down.engine().answered()).isBefore(down.at());
                engine.reconnect("operator");
                Sample up = down;
                while (!up.engine().isReachable()) {
                    up = poller.await(up.version(), PATIENCE);
                }
                assertThat(up.engine().answered()).isAfter(down.engine().answered());
            }
            lease.close();
        }
    }

    @Test
    void itSaysSoIfThereAreMoreNamespacesThanAreShown() throws InterruptedException {
        try (LockClient client = client("operator", Duration.ofSeconds(1))) {
            List<LockClient> others = new ArrayList<>();
            for (int i = 0; i <= Poller.MOST_NAMESPACES; i++) {
                LockClient other = LockClient.builder()
                        .backend(engine)
                        .namespace("shop-" + i)
                        .connect();
                assertThat(other.lock("order:42").acquire().isValid()).isTrue();
                others.add(other);
            }
            try (Console console = Console.builder(client).mount()) {
                Sample sample = console.poller().watch();
                assertThat(sample.namespaces()).hasSize(Poller.MOST_NAMESPACES);
                assertThat(sample.cost().truncated()).isTrue();
                engine.disconnect("operator", MemoryEngine.Outage.REPLIES_LOST);
                while (sample.engine().isReachable()) {
                    sample = console.poller().await(sample.version(), PATIENCE);
                }
                assertThat(sample.cost().truncated())
                        .as("of the last answer, which is shown")
                        .isTrue();
                engine.reconnect("operator");
            }
            others.forEach(LockClient::close);
        }
    }
}
