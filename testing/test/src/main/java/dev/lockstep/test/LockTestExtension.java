package dev.lockstep.test;

import dev.lockstep.LockClient;
import java.time.Duration;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * A JUnit extension (JUnit 5 and 6) that gives each test an engine with faults on command and clients of it, and closes the
 * clients after the test. A test method, and the methods that run before and after each, ask for them by their parameters:
 *
 * <pre>{@code
 * @ExtendWith(LockTestExtension.class)
 * class ShippingTest {
 *     @Test
 *     void stopsWhenTheLockIsLost(LockClient locks, TestEngine engine, @OtherProcess LockClient other) { … }
 * }
 * }</pre>
 *
 * <p>That is an engine inside the JVM. A field with {@code @RegisterExtension} chooses another engine and configures clients:
 *
 * <pre>{@code
 * @RegisterExtension
 * static final LockTestExtension LOCKS = LockTestExtension.on(() -> "redis://localhost:" + REDIS.port())
 *         .configure(client -> client.ttl(Duration.ofSeconds(5)));
 * }</pre>
 *
 * <p>Unless configured otherwise, clients have a namespace of their own for each test, a ttl of 3 seconds and a request timeout
 * of 1 second, so that a test of an outage is short. Safe for tests that run at the same time.
 */
public final class LockTestExtension implements BeforeEachCallback, AfterEachCallback, ParameterResolver {
    private static final ExtensionContext.Namespace STORE = ExtensionContext.Namespace.create(LockTestExtension.class);

    private final Supplier<TestEngine> engines;
    private final Consumer<LockClient.Builder> configuration;

    /** Makes an extension with an engine inside the JVM for each test. */
    public LockTestExtension() {
        this(TestEngine::memory, builder -> {});
    }

    private LockTestExtension(Supplier<TestEngine> engines, Consumer<LockClient.Builder> configuration) {
        this.engines = engines;
        this.configuration = configuration;
    }

    /**
     * Uses the engine of a URL.
     *
     * @param url gives the URL; asked before each test
     * @return an extension for {@code @RegisterExtension}
     */
    public static LockTestExtension on(Supplier<String> url) {
        Objects.requireNonNull(url, "url");
        return new LockTestExtension(() -> TestEngine.of(url.get()), builder -> {});
    }

    /**
     * Configures the clients. Their engine is the extension's.
     *
     * @param more sets what is to differ from the defaults
     * @return a copy with that configuration, in addition to what was configured before
     */
    public LockTestExtension configure(Consumer<LockClient.Builder> more) {
        return new LockTestExtension(engines, configuration.andThen(more));
    }

    /** Makes the engine. Clients connect when a parameter asks for them. */
    @Override
    public void beforeEach(ExtensionContext context) {
        fixture(context);
    }

    @Override
    public void afterEach(ExtensionContext context) {
        Fixture fixture = context.getStore(STORE).remove(this, Fixture.class);
        if (fixture != null) {
            fixture.close();
        }
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        Class<?> type = parameter.getParameter().getType();
        // Objects that belong to one test cannot be passed to a constructor or a method for all tests.
        return context.getTestMethod().isPresent() && (type == LockClient.class || type == TestEngine.class);
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        Fixture fixture = fixture(context);
        if (parameter.getParameter().getType() == TestEngine.class) {
            return fixture.engine;
        }
        return parameter.isAnnotated(OtherProcess.class) ? fixture.other() : fixture.client();
    }

    private Fixture fixture(ExtensionContext context) {
        ExtensionContext.Store store = context.getStore(STORE);
        Fixture known = store.get(this, Fixture.class);
        if (known == null) {
            known = new Fixture(engines.get(), configuration);
            store.put(this, known);
        }
        return known;
    }

    /** The engine and the clients of one test. Used by the thread of the test alone. */
    private static final class Fixture {
        private final TestEngine engine;
        private final Consumer<LockClient.Builder> configuration;
        private final String namespace = "test-" + UUID.randomUUID();
        private @Nullable LockClient client;
        private @Nullable LockClient other;

        Fixture(TestEngine engine, Consumer<LockClient.Builder> configuration) {
            this.engine = engine;
            this.configuration = configuration;
        }

        LockClient client() {
            if (client == null) {
                client = builder("test").backend(engine).connect();
            }
            return client;
        }

        LockClient other() {
            if (other == null) {
                other = builder("other-process").backend(engine.withoutFaults()).connect();
            }
            return other;
        }

        private LockClient.Builder builder(String name) {
            LockClient.Builder builder = LockClient.builder()
                    .namespace(namespace)
                    .clientName(name)
                    .ttl(Duration.ofSeconds(3))
                    .requestTimeout(Duration.ofSeconds(1));
            configuration.accept(builder);
            return builder;
        }

        void close() {
            engine.bringBack(); // or closing would wait for it
            if (client != null) {
                client.close();
            }
            if (other != null) {
                other.close();
            }
        }
    }
}
