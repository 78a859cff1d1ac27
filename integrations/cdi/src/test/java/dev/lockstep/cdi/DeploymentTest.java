package dev.lockstep.cdi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.LockClient;
import dev.lockstep.annotation.Locked;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.inject.Produces;
import jakarta.enterprise.inject.Stereotype;
import jakarta.enterprise.inject.se.SeContainer;
import jakarta.enterprise.inject.se.SeContainerInitializer;
import jakarta.enterprise.inject.spi.Extension;
import jakarta.enterprise.inject.spi.ProcessAnnotatedType;
import jakarta.interceptor.InterceptorBinding;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.reflect.Method;
import java.util.Objects;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Mistakes are refused at deployment, with the reason. */
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
                Arguments.of(OfStereotype.class, "@Nightly has the annotation. Write it on the class"),
                Arguments.of(OfStereotypeOfStereotype.class, "@Nightly has the annotation. Write it on the class"),
                Arguments.of(OfBinding.class, "@Guarded has the annotation. Write it on the class"),
                Arguments.of(OfMethodsBinding.class, "@Guarded has the annotation. Write it on the method"),
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

    /** The container then locks a method that says nothing about it itself. */
    @Test
    void anAnnotationThatAnExtensionAddsIsRefusedAtTheCall() {
        try (SeContainer container = SeContainerInitializer.newInstance()
                .disableDiscovery()
                .addBeanClasses(Client.class, Unaware.class)
                .addExtensions(new Adds())
                .initialize()) {
            Unaware bean = container.select(Unaware.class).get();
            assertThatThrownBy(bean::call)
                    .hasMessageContaining("@Locked on dev.lockstep.cdi.DeploymentTest$Unaware.call()")
                    .hasMessageContaining("Write the annotation on the method or the class itself");
            assertThat(bean.called()).isFalse();
        }
    }

    /** Adds the annotation to a method while the application is deployed. */
    static class Adds implements Extension {
        void add(@Observes ProcessAnnotatedType<Unaware> type) {
            type.configureAnnotatedType()
                    .filterMethods(method -> method.getJavaMember().getName().equals("call"))
                    .forEach(method ->
                            method.add(Objects.requireNonNull(lockedCall().getAnnotation(Locked.class))));
        }

        private static Method lockedCall() {
            try {
                return Fine.class.getMethod("call");
            } catch (NoSuchMethodException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    @ApplicationScoped
    static class Unaware {
        private boolean called;

        public void call() {
            called = true;
        }

        boolean called() {
            return called;
        }
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

    @Stereotype
    @Locked(name = "a")
    @Retention(RetentionPolicy.RUNTIME)
    @interface Nightly {}

    @Stereotype
    @Nightly
    @Retention(RetentionPolicy.RUNTIME)
    @interface Hidden {}

    @InterceptorBinding
    @Locked(name = "a")
    @Retention(RetentionPolicy.RUNTIME)
    @interface Guarded {}

    @Nightly
    static class OfStereotype {
        public void call() {}
    }

    @Hidden
    static class OfStereotypeOfStereotype {
        public void call() {}
    }

    @Guarded
    static class OfBinding {
        public void call() {}
    }

    static class OfMethodsBinding {
        @Guarded
        public void call() {}
    }

    static class UnknownClient {
        @Locked(name = "a", client = "spare")
        public void call() {}
    }
}
