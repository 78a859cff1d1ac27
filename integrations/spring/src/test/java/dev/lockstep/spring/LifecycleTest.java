package dev.lockstep.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.LockClient;
import dev.lockstep.annotation.Locked;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Beans, clients and the order in which they end. */
class LifecycleTest {
    private static final List<String> events = new ArrayList<>();

    static class Inner {
        @Locked(name = "end")
        public String run() {
            return "under its lock";
        }
    }

    /** Uses a locked bean when it ends, and knows no client. */
    static class Outer implements DisposableBean {
        private final Inner inner;

        Outer(Inner inner) {
            this.inner = inner;
        }

        @Override
        public void destroy() {
            events.add(inner.run());
        }
    }

    @Test
    void aClientIsClosedAfterTheBeansWithLockedMethods() {
        // The client is made last, so it would be closed first.
        AnnotationConfigApplicationContext context = Contexts.start(Inner.class, Outer.class, Contexts.OneClient.class);
        context.close();
        assertThat(events).containsExactly("under its lock");
    }

    @Configuration(proxyBeanMethods = false)
    @EnableLocks
    static class TwoClients {
        @Bean
        LockClient first() {
            return LockClient.connect("memory:");
        }

        @Bean
        @Qualifier("other")
        LockClient second() {
            return LockClient.connect("memory:");
        }
    }

    static class Work {
        @Locked(name = "a", client = "first")
        public List<String> first(LockClient first, LockClient second) {
            return List.of(LockedTest.held(first), LockedTest.held(second));
        }

        @Locked(name = "a", client = "other")
        public List<String> second(LockClient first, LockClient second) {
            return List.of(LockedTest.held(first), LockedTest.held(second));
        }
    }

    @Test
    void aMethodNamesItsClient() {
        try (AnnotationConfigApplicationContext context = Contexts.start(TwoClients.class, Work.class)) {
            Work work = context.getBean(Work.class);
            LockClient first = context.getBean("first", LockClient.class);
            LockClient second = context.getBean("second", LockClient.class);
            assertThat(work.first(first, second)).containsExactly("a", "");
            assertThat(work.second(first, second)).containsExactly("", "a");
        }
    }
}
