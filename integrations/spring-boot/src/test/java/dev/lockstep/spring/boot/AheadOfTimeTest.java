package dev.lockstep.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.annotation.Locked;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.aot.generate.ClassNameGenerator;
import org.springframework.aot.generate.DefaultGenerationContext;
import org.springframework.aot.generate.GeneratedFiles;
import org.springframework.aot.generate.InMemoryGeneratedFiles;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.core.env.MapPropertySource;
import org.springframework.javapoet.ClassName;

/** An application with locks can be prepared ahead of time, for a native image. */
class AheadOfTimeTest {
    record Order(long id) {}

    static class Shop {
        @Locked(name = "order", key = "#order.id", busyMethod = "later")
        public String ship(Order order) {
            return "shipped " + order.id();
        }

        String later(Order order) {
            return "later " + order.id();
        }
    }

    @Test
    void whatKeysReadAndWhatIsCalledIfBusyIsKept() throws Exception {
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
        assertThat(files.getGeneratedFiles(GeneratedFiles.Kind.SOURCE).keySet())
                .anyMatch(file -> file.contains("NamedClient"));
    }
}
