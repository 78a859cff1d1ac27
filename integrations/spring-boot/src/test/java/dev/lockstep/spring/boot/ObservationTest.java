package dev.lockstep.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockTemplate;
import dev.lockstep.annotation.Locked;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import reactor.core.publisher.Mono;

/** The observations of an application: of locked methods and of the template. */
class ObservationTest {
    private final List<String> stopped = new CopyOnWriteArrayList<>();
    private final ObservationRegistry registry = ObservationRegistry.create();
    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(LockstepAutoConfiguration.class, LockstepObservationAutoConfiguration.class))
            .withPropertyValues("lockstep.url=memory:")
            .withBean(ObservationRegistry.class, () -> registry)
            .withBean(Clinic.class);

    ObservationTest() {
        registry.observationConfig().observationHandler(new ObservationHandler<>() {
            @Override
            public void onStop(Observation.Context context) {
                var parent = context.getParentObservation();
                stopped.add(context.getName() + " in "
                        + (parent == null ? "nothing" : parent.getContextView().getName()) + " of "
                        + context.getHighCardinalityKeyValues().stream()
                                .filter(each -> each.getKey().equals("lockstep.lock"))
                                .map(each -> each.getValue())
                                .findFirst()
                                .orElse("no lock"));
            }

            @Override
            public boolean supportsContext(Observation.Context context) {
                return true;
            }
        });
    }

    /** A service with locked methods of each shape. */
    static class Clinic {
        private final ObservationRegistry registry;
        private final List<String> threads = new CopyOnWriteArrayList<>();

        Clinic(ObservationRegistry registry) {
            this.registry = registry;
        }

        /** The threads in which {@link #takeElsewhere} ended. */
        List<String> threads() {
            return threads;
        }

        @Locked(name = "bed", key = "#number")
        public void take(int number) {
            Observation.createNotStarted("work", registry).observe(() -> {});
        }

        @Locked(name = "bed", key = "#number")
        public CompletableFuture<String> takeLater(int number) {
            Observation.createNotStarted("work", registry).observe(() -> {});
            return CompletableFuture.completedFuture("taken");
        }

        @Locked(name = "bed", key = "#number")
        public CompletableFuture<String> takeWhen(int number, CompletableFuture<String> ready) {
            return ready;
        }

        @Locked(name = "bed", key = "#number")
        public Mono<String> takeElsewhere(int number, CompletableFuture<String> ready) {
            return Mono.fromFuture(ready)
                    .flatMap(taken -> Mono.deferContextual(context -> {
                        threads.add(Thread.currentThread().getName());
                        Observation.createNotStarted("work", registry)
                                .parentObservation(context.get("micrometer.observation"))
                                .observe(() -> {});
                        return Mono.just(taken);
                    }));
        }

        @Locked(name = "bed", key = "#number")
        public Mono<String> takeReactively(int number) {
            return Mono.deferContextual(context -> {
                Observation.createNotStarted("work", registry)
                        .parentObservation(context.get("micrometer.observation"))
                        .observe(() -> {});
                return Mono.just("taken");
            });
        }
    }

    @Test
    void lockedMethods() {
        runner.run(context -> {
            Observation request = Observation.start("request", registry);
            try (Observation.Scope scope = request.openScope()) {
                context.getBean(Clinic.class).take(1);
            }
            assertThat(stopped)
                    .containsExactly("work in lockstep.locked of no lock", "lockstep.locked in request of bed:1");
        });
    }

    @Test
    void lockedMethodsThatReturnStages() {
        runner.run(context -> {
            Observation request = Observation.start("request", registry);
            try (Observation.Scope scope = request.openScope()) {
                context.getBean(Clinic.class).takeLater(2).get(20, TimeUnit.SECONDS);
            }
            assertThat(stopped)
                    .containsExactly("work in lockstep.locked of no lock", "lockstep.locked in request of bed:2");
        });
    }

    @Test
    void lockedMethodsThatReturnPublishers() {
        runner.run(context -> {
            Observation request = Observation.start("request", registry);
            Mono<String> taken = context.getBean(Clinic.class).takeReactively(3);
            assertThat(stopped).isEmpty();
            assertThat(taken.contextWrite(each -> each.put("micrometer.observation", request))
                            .block(Duration.ofSeconds(20)))
                    .isEqualTo("taken");
            assertThat(stopped)
                    .containsExactly("work in lockstep.locked of no lock", "lockstep.locked in request of bed:3");
        });
    }

    /** The work ends in another thread, when the request is over. */
    @Test
    void lockedMethodsThatReturnStagesOfOtherThreads() {
        runner.run(context -> {
            CompletableFuture<String> ready = new CompletableFuture<>();
            Observation request = Observation.start("request", registry);
            CompletableFuture<String> taken;
            try (Observation.Scope scope = request.openScope()) {
                taken = context.getBean(Clinic.class).takeWhen(5, ready);
            }
            request.stop();
            assertThat(registry.getCurrentObservation()).isNull();
            assertThat(stopped).containsExactly("request in nothing of no lock");
            CompletableFuture.runAsync(() -> ready.complete("taken"));
            assertThat(taken.get(20, TimeUnit.SECONDS)).isEqualTo("taken");
            await().atMost(Duration.ofSeconds(20))
                    .untilAsserted(() -> assertThat(stopped)
                            .containsExactly("request in nothing of no lock", "lockstep.locked in request of bed:5"));
        });
    }

    @Test
    void lockedMethodsThatReturnPublishersOfOtherThreads() {
        runner.run(context -> {
            CompletableFuture<String> ready = new CompletableFuture<>();
            Observation request = Observation.start("request", registry);
            CompletableFuture<String> taken = context.getBean(Clinic.class)
                    .takeElsewhere(6, ready)
                    .contextWrite(each -> each.put("micrometer.observation", request))
                    .toFuture();
            assertThat(stopped).isEmpty();
            // The work waits for it: otherwise the thread that acquired the lock would complete the work.
            await().atMost(Duration.ofSeconds(20)).until(() -> ready.getNumberOfDependents() > 0);
            new Thread(() -> ready.complete("taken"), "another").start();
            assertThat(taken.get(20, TimeUnit.SECONDS)).isEqualTo("taken");
            assertThat(context.getBean(Clinic.class).threads()).containsExactly("another");
            await().atMost(Duration.ofSeconds(20))
                    .untilAsserted(() -> assertThat(stopped)
                            .containsExactly(
                                    "work in lockstep.locked of no lock", "lockstep.locked in request of bed:6"));
        });
    }

    /** A service whose lock is held elsewhere. */
    static class Ward {
        @Locked(name = "bed", key = "#number", waitAtMost = "20s")
        public String value(int number) {
            return "taken";
        }

        @Locked(name = "bed", key = "#number", waitAtMost = "20s")
        public CompletableFuture<String> stage(int number) {
            return CompletableFuture.completedFuture("taken");
        }

        @Locked(name = "bed", key = "#number", waitAtMost = "20s")
        public Mono<String> publisher(int number) {
            return Mono.just("taken");
        }
    }

    /** The events and keys of an observation of a locked method. */
    private static final class Details implements ObservationHandler<Observation.Context> {
        final List<String> events = new CopyOnWriteArrayList<>();
        final List<String> keys = new CopyOnWriteArrayList<>();

        @Override
        public void onEvent(Observation.Event event, Observation.Context context) {
            events.add(event.getName());
        }

        @Override
        public void onStop(Observation.Context context) {
            context.getLowCardinalityKeyValues().forEach(each -> keys.add(each.getKey() + "=" + each.getValue()));
        }

        @Override
        public boolean supportsContext(Observation.Context context) {
            return context.getName().equals("lockstep.locked");
        }
    }

    private void waits(BiFunction<Ward, Observation, CompletableFuture<String>> call) {
        Details locked = new Details();
        registry.observationConfig().observationHandler(locked);
        runner.withPropertyValues("lockstep.url=memory:ward")
                .withBean(Ward.class)
                .run(context -> {
                    try (LockClient rival = LockClient.connect("memory:ward")) {
                        Lease held = rival.lock("bed:7").acquireAsync().get(20, TimeUnit.SECONDS);
                        Observation request = Observation.start("request", registry);
                        CompletableFuture<String> taken = call.apply(context.getBean(Ward.class), request);
                        await().atMost(Duration.ofSeconds(20)).until(() -> locked.events.contains("waiting"));
                        held.close();
                        assertThat(taken.get(20, TimeUnit.SECONDS)).isEqualTo("taken");
                        await().atMost(Duration.ofSeconds(20))
                                .untilAsserted(() -> assertThat(stopped)
                                        .containsExactly(
                                                "lockstep.wait in lockstep.locked of bed:7",
                                                "lockstep.locked in request of bed:7"));
                        assertThat(locked.events).containsExactly("waiting", "granted");
                        assertThat(locked.keys)
                                .contains("engine=memory", "group=bed", "mode=exclusive", "outcome=released");
                    }
                });
    }

    @Test
    void lockedMethodsThatWait() {
        waits((ward, request) -> CompletableFuture.supplyAsync(() -> request.scoped(() -> ward.value(7))));
    }

    @Test
    void lockedMethodsThatWaitAndReturnStages() {
        waits((ward, request) -> CompletableFuture.supplyAsync(() -> request.scoped(() -> ward.stage(7)))
                .thenCompose(stage -> stage));
    }

    @Test
    void lockedMethodsThatWaitAndReturnPublishers() {
        waits((ward, request) -> ward.publisher(7)
                .contextWrite(each -> each.put("micrometer.observation", request))
                .toFuture());
    }

    @Test
    void theTemplate() {
        runner.run(context -> {
            context.getBean(LockTemplate.class).execute("bed:4", lease -> "taken");
            assertThat(stopped).containsExactly("lockstep.locked in nothing of bed:4");
        });
    }

    @Test
    void nothingIsObservedWithoutAnObserver() {
        runner.withPropertyValues("management.observations.enable.lockstep=false")
                .run(context -> {
                    context.getBean(Clinic.class).take(1);
                    assertThat(stopped).containsExactly("work in nothing of no lock");
                });
    }
}
