package dev.lockstep.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.annotation.Locked;
import dev.lockstep.servers.PostgresServer;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.SqlServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.Comparator;
import java.util.Enumeration;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.io.DefaultResourceLoader;
import org.springframework.core.io.ResourceLoader;
import redis.clients.jedis.UnifiedJedis;

/**
 * The messages when an application does not start, the descriptions that an editor shows, and the parts that a native
 * image keeps.
 */
@Timeout(60)
class StartFailuresTest {
    private static final LockFailureAnalyzer ANALYZER = new LockFailureAnalyzer();

    private static FailureAnalysis analyze(Throwable failure) {
        return Objects.requireNonNull(ANALYZER.analyze(new BeanCreationException("lockClient", "no", failure)));
    }

    private static void start(String description, String action, String... properties) {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(LockstepAutoConfiguration.class))
                .withPropertyValues(properties)
                .run(context -> {
                    FailureAnalysis analysis = Objects.requireNonNull(ANALYZER.analyze(context.getStartupFailure()));
                    assertThat(analysis.getDescription()).contains(description);
                    assertThat(analysis.getAction()).contains(action);
                });
    }

    @Test
    void anEngineThatIsNotOnTheClassPathIsNamed() {
        start("Add the artifact dev.lockstep:lockstep-etcd", "Add the artifact", "lockstep.url=etcd://localhost:2379");
    }

    @Test
    void aUrlOfNoEngineIsNamed() {
        start("No engine for 'localhost:' is known", "as in redis://localhost:6379", "lockstep.url=localhost:6379");
        start("does not begin with a scheme", "lockstep.*", "lockstep.url=");
    }

    @Test
    void aPropertyThatMakesNoSenseIsNamed() {
        start("The namespace is empty", "lockstep.*", "lockstep.url=memory:", "lockstep.namespace=");
        start("ttl must be positive", "lockstep.*", "lockstep.url=memory:", "lockstep.ttl=-1s");
    }

    @Test
    void aTimeoutOfTheHealthIndicatorThatMakesNoSenseIsRefused() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(LockstepAutoConfiguration.class))
                .withPropertyValues("lockstep.url=memory:", "lockstep.health.timeout=300000d")
                .run(context -> assertThat(context.getStartupFailure())
                        .rootCause()
                        .hasMessageContaining("lockstep.health.timeout must be at most 20 days"));
    }

    static class Mistake {
        @Locked(name = "a", key = "#ordr")
        public void run(String order) {}
    }

    @Test
    void aMistakeInAnAnnotationIsNamed() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(LockstepAutoConfiguration.class))
                .withBean(Mistake.class)
                .run(context -> {
                    FailureAnalysis analysis = Objects.requireNonNull(ANALYZER.analyze(context.getStartupFailure()));
                    assertThat(analysis.getDescription()).contains("Mistake.run(String)", "uses #ordr");
                    assertThat(analysis.getAction()).contains("annotation");
                });
    }

    @Test
    void aServerThatCannotBeReachedIsNamed() {
        start(
                "127.0.0.1:1",
                "lockstep.lazy-connect=true",
                "lockstep.url=redis://127.0.0.1:1",
                "lockstep.request-timeout=200ms");
    }

    @Test
    void wrongCredentialsAreNamedAndNotShown() {
        try (RedisServer server =
                Servers.require(() -> RedisServer.builder().password("right").start())) {
            start("password", "lockstep.*", "lockstep.url=redis://:wrong@127.0.0.1:" + server.port());
            new ApplicationContextRunner()
                    .withConfiguration(AutoConfigurations.of(LockstepAutoConfiguration.class))
                    .withPropertyValues("lockstep.url=redis://:wr0ng@127.0.0.1:" + server.port())
                    .run(context -> assertThat(Objects.requireNonNull(ANALYZER.analyze(context.getStartupFailure()))
                                    .getDescription())
                            .doesNotContain("wr0ng"));
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(LockstepAutoConfiguration.class)
    static class Application {}

    /** As an operator sees it: Spring Boot finds the analysis and logs it. */
    @Test
    void anApplicationWithWrongCredentialsOfPostgresSaysSo() {
        try (PostgresServer server =
                Servers.require(() -> PostgresServer.builder().start())) {
            String log = Logs.of(() -> assertThatThrownBy(() -> new SpringApplicationBuilder(Application.class)
                            .web(WebApplicationType.NONE)
                            .properties(
                                    "spring.main.banner-mode=off",
                                    "lockstep.url=" + server.jdbcUrl() + "?user=" + SqlServer.USER + "&password=wr0ng",
                                    "lockstep.request-timeout=20s")
                            .run())
                    .isInstanceOf(BeanCreationException.class));
            assertThat(log)
                    .contains("APPLICATION FAILED TO START", "The locks are not set up right.", "lockstep.*")
                    .contains("password authentication failed")
                    .doesNotContain("wr0ng");
        }
    }

    /** Finds the files of Spring Boot before those of Lockstep, as an application may. */
    private static final class SpringBootFirst extends ClassLoader {
        SpringBootFirst() {
            super(StartFailuresTest.class.getClassLoader());
        }

        @Override
        public Enumeration<URL> getResources(String name) throws IOException {
            List<URL> found = Collections.list(super.getResources(name));
            found.sort(Comparator.comparing(url -> !url.toString().contains("/spring-boot-")));
            return Collections.enumeration(found);
        }
    }

    /** Spring Boot has an analyzer of its own for such errors, which knows nothing of Lockstep. */
    @Test
    void anApplicationWithALibraryThatDoesNotFitSaysSo() {
        NoSuchMethodError error =
                new NoSuchMethodError("'void redis.clients.jedis.UnifiedJedis.later(java.lang.String)'");
        error.setStackTrace(new StackTraceElement[] {
            new StackTraceElement("dev.lockstep.redis.internal.Link", "open", "Link.java", 1)
        });
        ResourceLoader resources = new DefaultResourceLoader(new SpringBootFirst());
        String log = Logs.of(() -> assertThatThrownBy(() -> new SpringApplicationBuilder(resources, Application.class)
                        .web(WebApplicationType.NONE)
                        .properties("spring.main.banner-mode=off", "lockstep.url=memory:")
                        .initializers(context -> context.getBeanFactory()
                                .registerSingleton("failing", (LockClientCustomizer) (name, builder) -> {
                                    throw error;
                                }))
                        .run())
                .isInstanceOf(BeanCreationException.class));
        assertThat(log)
                .contains(
                        "APPLICATION FAILED TO START",
                        "A client library on the class path does not fit Lockstep's backend.",
                        "UnifiedJedis.later");
    }

    @Test
    void missingTablesAreNamed() {
        start(
                "The tables lockstep_sessions, lockstep_locks, lockstep_claims and lockstep_format are missing",
                "lockstep.jdbc.create-schema",
                "lockstep.url=jdbc:h2:mem:none;DB_CLOSE_DELAY=-1;lockstep.createSchema=false",
                "lockstep.request-timeout=20s");
    }

    @Test
    void aMissingChoiceAndAWrongLibraryAreExplained() {
        assertThat(analyze(new NoEngineException("No lock engine is configured."))
                        .getAction())
                .contains("Set lockstep.url", "lockstep.enabled=false");
        NoSuchMethodError error = new NoSuchMethodError("redis.clients.jedis.Foo.bar()");
        error.setStackTrace(
                new StackTraceElement[] {new StackTraceElement("dev.lockstep.redis.internal.Link", "x", "Link.java", 1)
                });
        assertThat(analyze(error).getDescription()).contains("does not fit", "redis.clients.jedis.Foo.bar()");
        LockConfigurationException version = new LockConfigurationException(
                null,
                "lockstep-redis does not work with this version of Jedis (9.9.9). Use one of the versions 6.0 to 8.0.");
        assertThat(analyze(version).getDescription()).contains("Jedis (9.9.9)");
        assertThat(analyze(version).getAction()).contains("Change the version of redis.clients:jedis");
        assertThat(analyze(new LockUnavailableException(null, "gone")).getDescription())
                .contains("gone");
        assertThat(ANALYZER.analyze(new IllegalStateException("another"))).isNull();
    }

    /** Every property has a description, from its Javadoc. */
    @Test
    void propertiesAreDescribedForEditors() throws Exception {
        try (InputStream in = getClass().getResourceAsStream("/META-INF/spring-configuration-metadata.json")) {
            String json = new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
            String properties = json.substring(json.indexOf("\"properties\""));
            for (String property : Pattern.compile("\\},\\s*\\{").split(properties)) {
                assertThat(property).contains("\"description\"");
            }
            assertThat(json)
                    .contains(
                            "\"lockstep.url\"",
                            "\"lockstep.wait\"",
                            "\"lockstep.transaction\"",
                            "\"lockstep.jdbc.use-data-source\"",
                            "\"lockstep.fallback.to\"",
                            "\"lockstep.health.timeout\"",
                            "\"lockstep.clients\"",
                            "\"management.health.locks.enabled\"",
                            "\"management.info.locks.enabled\"");
        }
    }

    @Test
    void aNativeImageKeepsScriptsAndMembersOfJedis() throws Exception {
        RuntimeHints hints = new RuntimeHints();
        new LockstepRuntimeHints().registerHints(hints, getClass().getClassLoader());
        assertThat(RuntimeHintsPredicates.resource().forResource("dev/lockstep/redis/acquire.lua"))
                .accepts(hints);
        assertThat(RuntimeHintsPredicates.resource().forResource("dev/lockstep/jdbc/postgresql.sql"))
                .accepts(hints);
        assertThat(RuntimeHintsPredicates.reflection().onType(UnifiedJedis.class))
                .accepts(hints);
    }
}
