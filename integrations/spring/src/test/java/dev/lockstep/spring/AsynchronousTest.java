package dev.lockstep.spring;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockLostAfterWorkException;
import dev.lockstep.LockTimeoutException;
import dev.lockstep.annotation.Locked;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ReactiveTypeDescriptor;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Methods that return before their work is done hold the lock until it is. */
@Timeout(60)
class AsynchronousTest {
    private AnnotationConfigApplicationContext context;
    private LockClient locks;
    private Service service;

    @BeforeEach
    void start() {
        Awaitility.setDefaultTimeout(Duration.ofSeconds(20)); // a busy machine takes long
        context = Contexts.start(Contexts.OneClient.class, Service.class);
        locks = context.getBean(LockClient.class);
        service = context.getBean(Service.class);
    }

    @AfterEach
    void stop() {
        context.close();
    }

    static class Service {
        @Locked(name = "a")
        public CompletableFuture<String> future(CompletableFuture<String> work) {
            return work;
        }

        @Locked(name = "a")
        public CompletionStage<Long> token(CompletableFuture<String> work, @Nullable Lease lease) {
            return work.thenApply(done -> requireNonNull(lease).token());
        }

        @Locked(name = "a", onBusy = Locked.OnBusy.SKIP)
        public CompletableFuture<String> skipping() {
            return CompletableFuture.completedFuture("ran");
        }

        @Locked(name = "a")
        public CompletableFuture<String> throwing() {
            throw new IllegalArgumentException("no");
        }

        @Locked(name = "a", waitAtMost = "50ms")
        public Mono<String> mono(Mono<String> work) {
            return work;
        }

        @Locked(name = "a")
        public Flux<Integer> flux(Flux<Integer> work) {
            return work;
        }

        @Locked(name = "a", onBusy = Locked.OnBusy.SKIP)
        public Flux<Integer> skippingFlux() {
            return Flux.just(1);
        }

        @Locked(name = "a", waitAtMost = "0s", busyMethod = "busyStage")
        public CompletionStage<String> stageOrElse(String id) {
            return CompletableFuture.completedFuture("ran");
        }

        CompletableFuture<String> busyStage(String id) {
            return CompletableFuture.completedFuture("busy " + id);
        }

        @Locked(name = "a", waitAtMost = "0s", busyMethod = "busyMono")
        public Mono<String> monoOrElse(String id, @Nullable Lease lease) {
            return Mono.just("ran");
        }

        Mono<String> busyMono(String id) {
            return Mono.just("busy " + id);
        }

        @Locked(name = "a", waitAtMost = "0s", busyMethod = "busyFlux")
        public Flux<String> fluxOrElse(String id) {
            return Flux.just("ran", "twice");
        }

        Flux<String> busyFlux(String id) {
            return Flux.just("busy", id);
        }

        @Locked(name = "a", waitAtMost = "0s")
        public Work work(Mono<Void> work) {
            return new Work(work);
        }

        @Locked(name = "a", onBusy = Locked.OnBusy.SKIP)
        public Work skippingWork() {
            return new Work(Mono.error(new IllegalStateException("ran")));
        }
    }

    /** A reactive type without a value, like RxJava's Completable. */
    record Work(Mono<Void> mono) {}

    static {
        ReactiveAdapterRegistry.getSharedInstance()
                .registerReactiveType(
                        ReactiveTypeDescriptor.noValue(Work.class, () -> new Work(Mono.empty())),
                        work -> ((Work) work).mono(),
                        publisher -> new Work(Mono.from(publisher).then()));
    }

    private boolean isHeld() {
        return !locks.inspect("a").isFree();
    }

    @Test
    void aStageHoldsTheLockUntilItIsDone() throws Exception {
        CompletableFuture<String> work = new CompletableFuture<>();
        CompletableFuture<String> result = service.future(work);
        assertThat(isHeld()).isTrue();
        assertThat(service.skipping().get()).isNull();
        work.complete("done");
        assertThat(result.get(20, TimeUnit.SECONDS)).isEqualTo("done");
        assertThat(isHeld()).isFalse();
        assertThat(service.skipping().get()).isEqualTo("ran");
        assertThat(service.token(work, null).toCompletableFuture().get()).isPositive();
    }

    @Test
    void aStageThatFailsReleasesTheLock() {
        CompletableFuture<String> work = new CompletableFuture<>();
        CompletableFuture<String> result = service.future(work);
        work.completeExceptionally(new IllegalArgumentException("no"));
        assertThatThrownBy(result::get).hasCauseInstanceOf(IllegalArgumentException.class);
        assertThat(isHeld()).isFalse();
        assertThatThrownBy(() -> service.throwing()).isInstanceOf(IllegalArgumentException.class);
        assertThat(isHeld()).isFalse();
    }

    @Test
    void aStageWhoseLockIsLostFailsWithItsResult() {
        CompletableFuture<String> work = new CompletableFuture<>();
        CompletableFuture<String> result = service.future(work);
        locks.forceRelease("a");
        work.complete("done");
        assertThatThrownBy(result::get)
                .isInstanceOf(ExecutionException.class)
                .cause()
                .isInstanceOfSatisfying(
                        LockLostAfterWorkException.class,
                        e -> assertThat(e.result()).isEqualTo("done"));
    }

    @Test
    void aMonoTakesTheLockWithEachSubscription() {
        Sinks.One<String> sink = Sinks.one();
        Mono<String> mono = service.mono(sink.asMono());
        assertThat(isHeld()).isFalse();
        CompletableFuture<String> first = mono.toFuture();
        Awaitility.await().atMost(Duration.ofSeconds(20)).until(this::isHeld);
        assertThatThrownBy(mono::block).isInstanceOf(LockTimeoutException.class).hasMessageContaining("held by client");
        sink.tryEmitValue("done");
        assertThat(first.join()).isEqualTo("done");
        assertThat(isHeld()).isFalse();
        assertThat(mono.block()).isEqualTo("done");
    }

    @Test
    void aFluxHoldsTheLockUntilItEndsOrIsCancelled() {
        Sinks.Many<Integer> sink = Sinks.many().multicast().onBackpressureBuffer();
        Disposable subscription = service.flux(sink.asFlux()).subscribe();
        Awaitility.await().atMost(Duration.ofSeconds(20)).until(this::isHeld);
        assertThat(service.skippingFlux().collectList().block()).isEmpty();
        subscription.dispose();
        Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> !isHeld());
        assertThat(service.flux(Flux.just(1, 2)).collectList().block()).containsExactly(1, 2);
        assertThat(isHeld()).isFalse();
        assertThatThrownBy(() -> service.flux(Flux.error(new IllegalStateException("no")))
                        .blockLast())
                .hasMessage("no");
        assertThat(isHeld()).isFalse();
    }

    @Test
    void anotherMethodAnswersWhileTheLockIsBusy() {
        try (Lease other = locks.lock("a").acquireAsync().join()) {
            assertThat(service.stageOrElse("1").toCompletableFuture().join()).isEqualTo("busy 1");
            assertThat(service.monoOrElse("1", null).block()).isEqualTo("busy 1");
            assertThat(service.fluxOrElse("1").collectList().block()).containsExactly("busy", "1");
            assertThat(other.isValid()).isTrue();
        }
        assertThat(service.stageOrElse("1").toCompletableFuture().join()).isEqualTo("ran");
        assertThat(service.monoOrElse("1", null).block()).isEqualTo("ran");
        assertThat(service.fluxOrElse("1").collectList().block()).containsExactly("ran", "twice");
        assertThat(isHeld()).isFalse();
    }

    @Test
    void aTypeWithoutAValueHoldsTheLockUntilItIsDone() {
        Sinks.One<Void> sink = Sinks.one();
        Work work = service.work(sink.asMono());
        assertThat(isHeld()).isFalse();
        CompletableFuture<Void> first = work.mono().toFuture();
        Awaitility.await().atMost(Duration.ofSeconds(20)).until(this::isHeld);
        assertThatThrownBy(() -> work.mono().block()).isInstanceOf(LockTimeoutException.class);
        assertThat(service.skippingWork().mono().block()).isNull();
        sink.tryEmitEmpty();
        first.join();
        assertThat(isHeld()).isFalse();
    }

    @Test
    void aMonoWhoseLockIsLostFailsWithItsResult() {
        assertThatThrownBy(() -> service.mono(Mono.fromCallable(() -> {
                            locks.forceRelease("a");
                            return "done";
                        }))
                        .block())
                .isInstanceOfSatisfying(
                        LockLostAfterWorkException.class,
                        e -> assertThat(e.result()).isEqualTo("done"));
    }
}
