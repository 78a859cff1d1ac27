package dev.lockstep.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.annotation.Locked;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;

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

    static class StaticMethod {
        @Locked(name = "a")
        public static void run() {}
    }

    static class EmptyName {
        @Locked(name = " ")
        public void run() {}
    }

    static class NoTime {
        @Locked(name = "a", maxHold = "0s")
        public void run() {}
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

    static class SelfCall {
        public void all() {
            for (int i = 0; i < 2; i++) {
                run("order " + i);
            }
        }

        @Locked(name = "a")
        public void run(String order) {}
    }

    static class SelfCallLater {
        public Runnable later() {
            return this::run;
        }

        @Locked(name = "a")
        public void run() {}
    }

    abstract static class Base {
        public void all() {
            run();
        }

        abstract void run();
    }

    static class SelfCallOfBase extends Base {
        @Override
        @Locked(name = "a")
        public void run() {}
    }

    static class SelfCallUnderAnotherLock {
        @Locked(name = "b")
        public void all() {
            each();
        }

        private void each() {
            run();
        }

        @Locked(name = "a")
        public void run() {}
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
        refused(StaticMethod.class, "because it is static");
        refused(EmptyName.class, "the name is empty");
        refused(NoTime.class, "maxHold must be positive");
        refused(PrimitiveResult.class, "onBusy = SKIP has no result");
        refused(NoBusyMethod.class, "there is no busyMethod String other(int)");
        refused(BadDuration.class, "waitAtMost: 'soon' is not a duration");
        refused(NoPlaceholder.class, "not.there");
        refused(PlainFuture.class, "nobody can see when a Future is done");
        refused(SeveralReaders.class, "only be locked together with mode = WRITE");
        refused(SelfCall.class, "SelfCall.all calls it", "through another bean");
        refused(SelfCallLater.class, "SelfCallLater.later calls it");
        refused(SelfCallOfBase.class, "SelfCallOfBase.all calls it");
        refused(SelfCallUnderAnotherLock.class, "SelfCallUnderAnotherLock.each calls it");
    }

    static final class FinalClass {
        @Locked(name = "a")
        public void run() {}
    }

    record Immutable() {
        @Locked(name = "a")
        public void run() {}
    }

    /** Spring itself refuses classes of which it cannot make a proxy. */
    @Test
    void aClassThatNobodyCanExtendEndsTheStart() {
        for (Class<?> bean : List.of(FinalClass.class, Immutable.class)) {
            assertThatThrownBy(() -> Contexts.start(Contexts.OneClient.class, bean))
                    .isInstanceOf(BeanCreationException.class)
                    .hasStackTraceContaining("final class")
                    .hasStackTraceContaining(bean.getName());
        }
    }

    @Locked(name = "a")
    static class CallsUnderTheSameLock {
        public int outer() {
            return helper();
        }

        private int helper() {
            return inner();
        }

        public int inner() {
            return 1;
        }
    }

    static class CallsThroughItsProxy {
        @Autowired
        @Lazy
        private CallsThroughItsProxy self;

        public boolean outer() {
            return self.inner();
        }

        @Locked(name = "a")
        public boolean inner() {
            return true;
        }
    }

    static class CallsThroughAProvider {
        @Autowired
        private ObjectProvider<CallsThroughAProvider> self;

        public boolean outer() {
            return self.getObject().inner();
        }

        @Locked(name = "a")
        public boolean inner() {
            return true;
        }
    }

    @Test
    void callsOfTheSameObjectThatHaveTheLockAreNone() {
        try (AnnotationConfigApplicationContext context = Contexts.start(
                Contexts.OneClient.class,
                CallsUnderTheSameLock.class,
                CallsThroughItsProxy.class,
                CallsThroughAProvider.class)) {
            assertThat(context.getBean(CallsUnderTheSameLock.class).outer()).isEqualTo(1);
            assertThat(context.getBean(CallsThroughItsProxy.class).outer()).isTrue();
            assertThat(context.getBean(CallsThroughAProvider.class).outer()).isTrue();
        }
    }

    static class Readers {
        @Locked(name = "a", key = "#ids", mode = Locked.Mode.READ)
        public void run(List<String> ids) {}
    }

    @Test
    void aReaderOfSeveralLocksIsRefusedAtTheCall() {
        try (AnnotationConfigApplicationContext context = Contexts.start(Contexts.OneClient.class, Readers.class)) {
            Readers readers = context.getBean(Readers.class);
            readers.run(List.of("x"));
            assertThatThrownBy(() -> readers.run(List.of("x", "y")))
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContaining("with mode = READ there can be only one");
        }
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
        try (AnnotationConfigApplicationContext context = Contexts.start(TwoClients.class, Work.class)) {
            assertThatThrownBy(() -> context.getBean(Work.class).run())
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContaining("several lock clients (first, second)");
        }
    }

    @Test
    void anUnknownClientEndsTheStart() {
        assertThatThrownBy(() -> Contexts.start(TwoClients.class, OtherClient.class))
                .isInstanceOf(BeanCreationException.class)
                .hasMessageContaining("OtherClient.run()")
                .hasMessageContaining("no lock client 'third'. Beans of type LockClient: first, second");
    }
}
