package dev.lockstep.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.LockClient;
import dev.lockstep.annotation.Locked;
import dev.lockstep.jdbc.JdbcEngine;
import dev.lockstep.micrometer.LockObservations;
import dev.lockstep.redis.RedisEngine;
import dev.lockstep.spring.LeaderCandidate;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aot.generate.ClassNameGenerator;
import org.springframework.aot.generate.DefaultGenerationContext;
import org.springframework.aot.generate.GeneratedFiles;
import org.springframework.aot.generate.InMemoryGeneratedFiles;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.aot.test.generate.TestGenerationContext;
import org.springframework.boot.SpringApplicationAotProcessor;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.aot.AbstractAotProcessor;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.test.tools.CompileWithForkedClassLoader;
import org.springframework.core.test.tools.TestCompiler;
import org.springframework.javapoet.ClassName;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import reactor.core.publisher.Flux;

/** An application with locks can be prepared ahead of time, for a native image. */
class AheadOfTimeTest {
    record Order(long id, Customer customer) {
        Order(long id) {
            this(id, new Customer("eve"));
        }
    }

    record Customer(String name) {}

    static class Shop {
        @Locked(name = "order", key = "#order.id", busyMethod = "later")
        public String ship(Order order) {
            return "shipped " + order.id();
        }

        String later(Order order) {
            return "later " + order.id();
        }

        @Locked(name = "customer", key = "#order.customer.name")
        public void greet(Order order) {}
    }

    @Test
    void propertiesOfKeysAndBusyMethodsAreKept() throws Exception {
        AnnotationConfigApplicationContext application = new AnnotationConfigApplicationContext();
        application
                .getEnvironment()
                .getPropertySources()
                .addFirst(new MapPropertySource(
                        "test", Map.of("lockstep.url", "memory:", "lockstep.clients.other.url", "memory:")));
        application.register(LockstepAutoConfiguration.class, LockstepActuatorAutoConfiguration.class, Shop.class);
        InMemoryGeneratedFiles files = new InMemoryGeneratedFiles();
        DefaultGenerationContext context = new DefaultGenerationContext(
                new ClassNameGenerator(ClassName.get("dev.lockstep.spring.boot", "Application")), files);
        new ApplicationContextAotGenerator().processAheadOfTime(application, context);
        context.writeGeneratedContent();
        RuntimeHints hints = context.getRuntimeHints();
        assertThat(RuntimeHintsPredicates.reflection()
                        .onMethod(Order.class.getMethod("id"))
                        .invoke())
                .accepts(hints);
        assertThat(RuntimeHintsPredicates.reflection()
                        .onMethod(Shop.class.getDeclaredMethod("later", Order.class))
                        .invoke())
                .accepts(hints);
        assertThat(RuntimeHintsPredicates.reflection()
                        .onMethod(Customer.class.getMethod("name"))
                        .invoke())
                .accepts(hints);
        assertThat(files.getGeneratedFiles(GeneratedFiles.Kind.SOURCE).keySet())
                .anyMatch(file -> file.contains("NamedClient"));
        application.close();
    }

    /** By its name, a native image finds only a class that it keeps; others would count as absent. */
    @ParameterizedTest
    @ValueSource(
            classes = {
                TransactionSynchronizationManager.class,
                Flux.class,
                LockObservations.class,
                RedisEngine.class,
                JdbcEngine.class,
                DataSource.class
            })
    void librariesThatArePresentAreFound(Class<?> type) {
        AnnotationConfigApplicationContext application = new AnnotationConfigApplicationContext();
        TestGenerationContext context = new TestGenerationContext();
        new ApplicationContextAotGenerator().processAheadOfTime(application, context);
        assertThat(RuntimeHintsPredicates.reflection().onType(type)).accepts(context.getRuntimeHints());
        application.close();
    }

    /** Its properties have values only where it will run. */
    static class Report {
        @Locked(
                name = "${report.name}",
                key = "'${report.region}' + #order.id",
                waitAtMost = "${report.wait}",
                minHold = "${report.min-hold}",
                maxHold = "${report.max-hold}",
                client = "${report.client}",
                busyMethod = "later")
        public String write(Order order) {
            return "written";
        }

        String later(Order order) {
            return "later";
        }
    }

    /** Without what gives placeholders a value, as in an application that has no such bean of its own. */
    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(LockstepAutoConfiguration.class)
    @Import(Report.class)
    public static class Plain {
        public static void main(String[] arguments) {
            run(Plain.class, arguments);
        }
    }

    /** With it. */
    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({LockstepAutoConfiguration.class, PropertyPlaceholderAutoConfiguration.class})
    @Import(Report.class)
    public static class Usual {
        public static void main(String[] arguments) {
            run(Usual.class, arguments);
        }
    }

    private static void run(Class<?> application, String... arguments) {
        new SpringApplicationBuilder(application).web(WebApplicationType.NONE).run(arguments);
    }

    /** As Boot's Maven and Gradle plugins do it. */
    @ParameterizedTest
    @ValueSource(classes = {Plain.class, Usual.class})
    void placeholdersHaveNoValuesYet(Class<?> application, @TempDir Path folder) throws Exception {
        AbstractAotProcessor.Settings settings = AbstractAotProcessor.Settings.builder()
                .sourceOutput(folder.resolve("sources"))
                .resourceOutput(folder.resolve("resources"))
                .classOutput(folder.resolve("classes"))
                .groupId("example")
                .artifactId("reports")
                .build();
        new SpringApplicationAotProcessor(application, settings, new String[0]).process();
        try (Stream<Path> files = Files.walk(folder.resolve("resources"))) {
            List<String> hints = new ArrayList<>();
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                hints.add(Files.readString(file));
            }
            assertThat(String.join("", hints)).contains("\"" + Report.class.getName() + "\"", "\"later\"");
        }
    }

    /** The generated code is compiled and starts the application. */
    @Test
    @CompileWithForkedClassLoader
    @SuppressWarnings("unchecked")
    void theGeneratedCodeStartsTheApplication() {
        Map<String, Object> properties = Map.of(
                "lockstep.url", "memory:", "lockstep.clients.other.url", "memory:", "lockstep.elections", "scheduler");
        AnnotationConfigApplicationContext application = new AnnotationConfigApplicationContext();
        application.getEnvironment().getPropertySources().addFirst(new MapPropertySource("test", properties));
        application.register(LockstepAutoConfiguration.class, LockstepActuatorAutoConfiguration.class, Shop.class);
        TestGenerationContext generated = new TestGenerationContext();
        new ApplicationContextAotGenerator().processAheadOfTime(application, generated);
        generated.writeGeneratedContent();
        TestCompiler.forSystem().with(generated).compile(compiled -> {
            GenericApplicationContext context = new GenericApplicationContext();
            context.getEnvironment().getPropertySources().addFirst(new MapPropertySource("test", properties));
            compiled.getInstance(ApplicationContextInitializer.class).initialize(context);
            context.refresh();
            try (context) {
                assertThat(context.getBeansOfType(LockClient.class)).containsOnlyKeys("lockClient", "other");
                assertThat(context.getBeansOfType(LeaderCandidate.class)).containsOnlyKeys("schedulerLeaderCandidate");
                assertThat(context.getBean(Shop.class).ship(new Order(42))).isEqualTo("shipped 42");
            }
        });
    }
}
