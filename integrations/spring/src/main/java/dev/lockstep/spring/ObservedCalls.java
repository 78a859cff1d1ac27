package dev.lockstep.spring;

import dev.lockstep.micrometer.LockObservation;
import dev.lockstep.micrometer.LockObservations;
import io.micrometer.observation.Observation;
import java.util.Objects;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.context.ContextView;

/** Observes the calls of locked methods with Micrometer. Only loaded if lockstep-micrometer is there. */
final class ObservedCalls implements CallTracing {
    private final LockObservations observations;

    private ObservedCalls(LockObservations observations) {
        this.observations = observations;
    }

    /** Observes if the application has a bean that says how. */
    static CallTracing of(ConfigurableListableBeanFactory beans) {
        ObjectProvider<LockObservations> found = beans.getBeanProvider(LockObservations.class);
        LockObservations observations = found.getIfUnique();
        return observations == null ? NONE : new ObservedCalls(observations);
    }

    @Override
    public @Nullable Object observe(LockedInterceptor.Call call, Work work) throws Throwable {
        if (call.method().shape() == LockedMethod.Shape.PUBLISHER) {
            return Reactive.observed(observations, call, Objects.requireNonNull(work.run()));
        }
        LockObservation observed = observations.start(call.names(), null);
        Object result;
        try (Observation.Scope scope = observed.openScope()) {
            result = work.run();
        } catch (Throwable e) {
            observed.failed(e);
            observed.ended();
            throw e;
        }
        if (result instanceof CompletionStage<?> stage) {
            stage.whenComplete((value, failure) -> {
                if (failure != null) {
                    Throwable cause = failure instanceof CompletionException ? failure.getCause() : null;
                    observed.failed(cause == null ? failure : cause);
                }
                observed.ended();
            });
        } else {
            observed.ended();
        }
        return result;
    }

    /** The part that needs Reactor. Each subscription is a call. */
    private static final class Reactive {
        /** Where Micrometer keeps the current observation of a reactive stream. */
        private static final String KEY = "micrometer.observation";

        static Object observed(LockObservations observations, LockedInterceptor.Call call, Object publisher) {
            ReactiveAdapter adapter = Objects.requireNonNull(ReactiveAdapterRegistry.getSharedInstance()
                    .getAdapter(call.method().returnType()));
            Publisher<Object> locked = adapter.toPublisher(publisher);
            return adapter.fromPublisher(
                    adapter.isMultiValue()
                            ? Flux.deferContextual(context -> flux(start(observations, call, context), locked))
                            : Mono.deferContextual(
                                    context -> Mono.from(flux(start(observations, call, context), locked))));
        }

        private static LockObservation start(
                LockObservations observations, LockedInterceptor.Call call, ContextView context) {
            Observation parent = context.getOrDefault(KEY, null);
            return observations.start(call.names(), parent);
        }

        private static Flux<Object> flux(LockObservation observed, Publisher<Object> locked) {
            Publisher<Object> scoped = subscriber -> {
                try (Observation.Scope scope = observed.openScope()) {
                    locked.subscribe(subscriber); // which asks for the lock
                }
            };
            return Flux.from(scoped)
                    .doOnError(observed::failed)
                    .doFinally(signal -> observed.ended())
                    .contextWrite(context -> context.put(KEY, observed.observation()));
        }
    }
}
