package dev.lockstep.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.LockClient;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.redis.internal.Route;
import dev.lockstep.redis.internal.Settings;
import dev.lockstep.redis.internal.Url;
import dev.lockstep.redis.redlock.RedlockEngines;
import dev.lockstep.servers.Logged;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.BackendFactory;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The thread that listens to a server meets an error of the JVM, such as a class that is not there. */
@Timeout(60)
@Tag("full")
class PushErrorsTest {
    private static final String WHAT = "a class that is not there";

    private Redlocks set;
    private volatile boolean failing = true;

    @BeforeEach
    void start() {
        set = Redlocks.start(3);
    }

    @AfterEach
    void stop() throws Exception {
        if (set != null) {
            set.close();
        }
    }

    /** The usual way to a server, on which the push thread fails. */
    private Function<BackendContext, Route> route(RedisServer server) {
        return context -> {
            Route usual = Url.parse(server.url()).connect(context);
            return (Route) Proxy.newProxyInstance(
                    Route.class.getClassLoader(), new Class<?>[] {Route.class}, (proxy, method, args) -> {
                        if (failing && Thread.currentThread().getName().startsWith("lockstep-redis-push")) {
                            throw new NoClassDefFoundError(WHAT);
                        }
                        try {
                            return method.invoke(usual, args);
                        } catch (InvocationTargetException e) {
                            throw e.getCause();
                        }
                    });
        };
    }

    private LockClient connect(String kind) {
        return connect(kind, Duration.ofSeconds(20));
    }

    private LockClient connect(String kind, Duration requestTimeout) {
        BackendFactory factory = kind.equals("redis")
                ? context -> RedisEngine.open(context, route(set.server(0)), Settings.DEFAULTS)
                : RedlockEngines.on(set.servers().stream().map(this::route).toList());
        return LockClient.builder()
                .backend(factory)
                .requestTimeout(requestTimeout)
                .connect();
    }

    @ParameterizedTest
    @ValueSource(strings = {"redis", "redlock"})
    void reachesTheCallerThatConnects(String kind) {
        try (Logged log = new Logged()) {
            long start = System.nanoTime();
            // Tried again until the request timeout, which is a quarter of the bound.
            assertThatThrownBy(() -> connect(kind, Duration.ofSeconds(5)).close())
                    .isInstanceOf(LockUnavailableException.class)
                    .hasStackTraceContaining(WHAT);
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(20));
            assertThat(log.tells("ERROR", "subscription")).as(log.text()).isTrue();
            assertThat(log.text()).contains(WHAT);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"redis", "redlock"})
    void isLoggedLaterTooAndTheThreadContinues(String kind) {
        failing = false;
        try (Logged log = new Logged();
                LockClient client = connect(kind)) {
            Bench.await("it listens", () -> subscriptions(set.server(0)) == 1);
            failing = true;
            set.server(0).command("CLIENT", "KILL", "TYPE", "pubsub");
            Bench.await("it is logged", () -> log.text().contains(WHAT));
            failing = false;
            Bench.await("it listens again", () -> subscriptions(set.server(0)) == 1);
            assertThat(client.lock("order:42").tryLock()).isTrue();
        }
    }

    private static long subscriptions(RedisServer server) {
        return List.of(server.command("CLIENT", "LIST", "TYPE", "pubsub").split("\n")).stream()
                .filter(line -> line.contains("id="))
                .count();
    }
}
