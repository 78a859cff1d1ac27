package dev.lockstep.spring;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.annotation.Locked;
import java.util.Map;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Mistakes end the start of the application, with an error that says what is wrong and where. */
class LockedMistakesTest {
    static class InvalidKey {
        @Locked(name = "a", key = "#order.")
        public void run(String order) {}
    }

    static class UnknownParameter {
        @Locked(name = "a", key = "#oder")
        public void run(String order) {}
    }

    static class PrivateMethod {
        @Locked(name = "fine")
        public void fine() {
            run();
        }

        @Locked(name = "a")
        private void run() {}
    }

    static class FinalMethod {
        @Locked(name = "a")
        public final void run() {}
    }

    static class PrimitiveResult {
        @Locked(name = "a", onBusy = Locked.OnBusy.SKIP)
        public boolean run() {
            return true;
        }
    }

    static class NoBusyMethod {
        @Locked(name = "a", busyMethod = "other")
        public String run(int number) {
            return "";
        }

        String other() {
            return "";
        }
    }

    static class BadDuration {
        @Locked(name = "a", waitAtMost = "soon")
        public void run() {}
    }

    static class NoPlaceholder {
        @Locked(name = "${not.there}")
        public void run() {}
    }

    static class PlainFuture {
        @Locked(name = "a")
        public Future<String> run() {
            throw new IllegalStateException();
        }
    }

    static class SeveralReaders {
        @Locked(
                name = "a",
                key = {"#p0", "#p1"},
                mode = Locked.Mode.READ)
        public void run(int one, int two) {}
    }

    private static void refused(Class<?> bean, String... messages) {
        assertThatThrownBy(() -> Contexts.start(Map.of(), Contexts.OneClient.class, bean))
                .isInstanceOf(BeanCreationException.class)
                .rootCause()
                .hasMessageContaining(bean.getSimpleName() + ".run")
                .hasMessageContainingAll(messages);
    }

    @Test
    void areFoundAtTheStart() {
        refused(InvalidKey.class, "the key '#order.' is not a valid expression");
        refused(UnknownParameter.class, "uses #oder, but known are [order, a0, p0, root, this]");
        refused(PrivateMethod.class, "because it is private");
        refused(FinalMethod.class, "because it is final");
        refused(PrimitiveResult.class, "onBusy = SKIP has no result");
        refused(NoBusyMethod.class, "there is no busyMethod String other(int)");
        refused(BadDuration.class, "waitAtMost: 'soon' is not a duration");
        refused(NoPlaceholder.class, "not.there");
        refused(PlainFuture.class, "nobody can see when a Future is done");
        refused(SeveralReaders.class, "only be locked together with mode = WRITE");
    }

    static class Work {
        @Locked(name = "a")
        public void run() {}
    }

    static class OtherClient {
        @Locked(name = "a", client = "third")
        public void run() {}
    }

    @Configuration(proxyBeanMethods = false)
    @EnableLocks
    static class TwoClients {
        @Bean
        LockClient first() {
            return LockClient.connect("memory:");
        }

        @Bean
        LockClient second() {
            return LockClient.connect("memory:");
        }
    }

    @Test
    void aClientThatIsNotClearIsNamedAtTheCall() {
        try (AnnotationConfigApplicationContext context =
                Contexts.start(TwoClients.class, Work.class, OtherClient.class)) {
            assertThatThrownBy(() -> context.getBean(Work.class).run())
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContaining("several lock clients (first, second)");
            assertThatThrownBy(() -> context.getBean(OtherClient.class).run())
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContaining("no lock client 'third'");
        }
    }
}
