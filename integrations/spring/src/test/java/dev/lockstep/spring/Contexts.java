package dev.lockstep.spring;

import dev.lockstep.LockClient;
import java.util.Map;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.MapPropertySource;

/** Application contexts of the tests. */
final class Contexts {
    private Contexts() {}

    /** A client of an engine of its own. */
    @Configuration(proxyBeanMethods = false)
    @EnableLocks
    static class OneClient {
        @Bean
        LockClient locks() {
            return LockClient.connect("memory:");
        }
    }

    static AnnotationConfigApplicationContext start(Class<?>... classes) {
        return start(Map.of(), classes);
    }

    static AnnotationConfigApplicationContext start(Map<String, Object> properties, Class<?>... classes) {
        AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
        context.getEnvironment().getPropertySources().addFirst(new MapPropertySource("test", properties));
        context.register(classes);
        try {
            context.refresh();
        } catch (RuntimeException e) {
            context.close();
            throw e;
        }
        return context;
    }
}
