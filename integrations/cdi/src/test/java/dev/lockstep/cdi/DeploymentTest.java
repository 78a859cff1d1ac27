package dev.lockstep.cdi;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.LockClient;
import dev.lockstep.annotation.Locked;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.Produces;
import jakarta.enterprise.inject.se.SeContainerInitializer;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What cannot work is refused at deployment, with the reason. */
class DeploymentTest {
    static Stream<Arguments> mistakes() {
        return Stream.of(
                Arguments.of(Expression.class, "the key '#id + 1' is not supported under CDI"),
                Arguments.of(UnknownParameter.class, "the key '#order' uses #order, which is no parameter"),
                Arguments.of(UnknownProperty.class, "uses .size, but java.util.List has no such"),
                Arguments.of(Placeholder.class, "the placeholder in '${shop}' is not supported under CDI"),
                Arguments.of(NoName.class, "the name is empty"),
                Arguments.of(BadDuration.class, "waitAtMost: '5 parsecs' is not a duration"),
                Arguments.of(NoHold.class, "maxHold must be positive"),
                Arguments.of(OldFuture.class, "nobody can see when a Future is done"),
                Arguments.of(Reactive.class, "a Publisher is not supported under CDI"),
                Arguments.of(SkippedPrimitive.class, "onBusy = SKIP has no result for a method that returns int"),
                Arguments.of(NoBusyMethod.class, "there is no busyMethod String instead(String)"),
                Arguments.of(SeveralReaders.class, "several keys can only be locked together with mode = WRITE"),
                Arguments.of(PrivateMethod.class, "cannot intercept a private, static or final method"),
                Arguments.of(OfInterface.class, "CDI ignores annotations of interfaces"),
                Arguments.of(UnknownClient.class, "there is no LockClient with @Named(\"spare\")"));
    }

    @ParameterizedTest
    @MethodSource("mistakes")
    void aMistakeIsRefusedWithItsReason(Class<?> bean, String reason) {
        assertThatThrownBy(() -> deploy(Client.class, bean))
                .hasMessageContaining("@Locked on dev.lockstep.cdi.DeploymentTest$")
                .hasMessageContaining(reason);
    }

    @Test
    void withoutAClientNothingIsLocked() {
        assertThatThrownBy(() -> deploy(Fine.class)).hasMessageContaining("there is no bean of type LockClient");
    }

    @Test
    void aClientForEachUserIsRefused() {
        assertThatThrownBy(() -> deploy(DependentClient.class, Fine.class)).hasMessageContaining("is @Dependent");
    }

    @SuppressWarnings("resource")
    private static void deploy(Class<?>... beans) {
        SeContainerInitializer.newInstance()
                .disableDiscovery()
                .addBeanClasses(beans)
                .initialize()
                .close();
    }

    @ApplicationScoped
    static class Client {
        @Produces
        @ApplicationScoped
        LockClient locks() {
            return LockClient.connect("memory:");
        }
    }

    @ApplicationScoped
    static class DependentClient {
        @Produces
        LockClient locks() {
            return LockClient.connect("memory:");
        }
    }

    static class Fine {
        @Locked(name = "a")
        public void call() {}
    }

    static class Expression {
        @Locked(name = "a", key = "#id + 1")
        public void call(int id) {}
    }

    static class UnknownParameter {
        @Locked(name = "a", key = "#order")
        public void call(int id) {}
    }

    static class UnknownProperty {
        @Locked(name = "a", key = "#ids.size")
        public void call(java.util.List<Integer> ids) {}
    }

    static class Placeholder {
        @Locked(name = "${shop}")
        public void call() {}
    }

    static class NoName {
        @Locked(name = " ")
        public void call() {}
    }

    static class BadDuration {
        @Locked(name = "a", waitAtMost = "5 parsecs")
        public void call() {}
    }

    static class NoHold {
        @Locked(name = "a", maxHold = "0s")
        public void call() {}
    }

    static class OldFuture {
        @Locked(name = "a")
        public Future<String> call() {
            throw new UnsupportedOperationException();
        }
    }

    static class Reactive {
        @Locked(name = "a")
        public Flow.Publisher<String> call() {
            throw new UnsupportedOperationException();
        }
    }

    static class SkippedPrimitive {
        @Locked(name = "a", onBusy = Locked.OnBusy.SKIP)
        public int call() {
            return 1;
        }
    }

    static class NoBusyMethod {
        @Locked(name = "a", busyMethod = "instead")
        public String call(String text) {
            return text;
        }
    }

    static class SeveralReaders {
        @Locked(
                name = "a",
                key = {"#one", "#two"},
                mode = Locked.Mode.READ)
        public void call(int one, int two) {}
    }

    static class PrivateMethod {
        @Locked(name = "a")
        private void call() {}
    }

    interface Contract {
        @Locked(name = "a")
        void call();
    }

    static class OfInterface implements Contract {
        @Override
        public void call() {}
    }

    static class UnknownClient {
        @Locked(name = "a", client = "spare")
        public void call() {}
    }
}
