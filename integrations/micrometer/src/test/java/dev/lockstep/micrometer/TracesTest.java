package dev.lockstep.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockLostAfterWorkException;
import dev.lockstep.LockOptions;
import dev.lockstep.LockTemplate;
import dev.lockstep.LockTimeoutException;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.tracing.handler.DefaultTracingObservationHandler;
import io.micrometer.tracing.otel.bridge.OtelCurrentTraceContext;
import io.micrometer.tracing.otel.bridge.OtelTracer;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.EventData;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Traces that micrometer-tracing makes with OpenTelemetry: their spans, events and parents. */
class TracesTest {
    static {
        Awaitility.setDefaultTimeout(Duration.ofSeconds(20)); // a busy machine takes long
    }

    private final InMemorySpanExporter exporter = InMemorySpanExporter.create();
    private final OpenTelemetrySdk otel = OpenTelemetrySdk.builder()
            .setTracerProvider(SdkTracerProvider.builder()
                    .addSpanProcessor(SimpleSpanProcessor.create(exporter))
                    .build())
            .build();

    /** The waits that were observed, before they end as spans. */
    private final Queue<Observation.Context> waits = new ConcurrentLinkedQueue<>();

    private final ObservationRegistry registry = registry();
    private final LockObservations observations = new LockObservations(registry);
    private final LockClient client = client("me", observations);
    private final LockClient rival =
            LockClient.builder().url("memory:traces").clientName("rival").connect();
    private final LockTemplate template = observations.observe(client.template());

    private ObservationRegistry registry() {
        ObservationRegistry made = ObservationRegistry.create();
        OtelTracer tracer = new OtelTracer(otel.getTracer("test"), new OtelCurrentTraceContext(), event -> {});
        made.observationConfig().observationHandler(new DefaultTracingObservationHandler(tracer));
        made.observationConfig().observationPredicate((name, context) -> {
            if ("lockstep.wait".equals(name)) {
                waits.add(context);
            }
            return true;
        });
        return made;
    }

    private static LockClient client(String name, LockObservations observations) {
        return LockClient.builder()
                .url("memory:traces")
                .clientName(name)
                .observer(observations.observer())
                .connect();
    }

    @AfterEach
    void close() {
        client.close();
        rival.close();
        otel.close();
    }

    private SpanData span(String name) {
        List<SpanData> found = exporter.getFinishedSpanItems().stream()
                .filter(span -> span.getName().equals(name))
                .toList();
        assertThat(found).as(name).hasSize(1);
        return found.get(0);
    }

    private static String attribute(SpanData span, String key) {
        return String.valueOf(span.getAttributes().get(AttributeKey.stringKey(key)));
    }

    private static List<String> events(SpanData span) {
        return span.getEvents().stream().map(EventData::getName).toList();
    }

    private void observed(String name) {
        Observation.createNotStarted(name, registry).observe(() -> {});
    }

    @Test
    void workIsInsideOfItsLock() throws Exception {
        Observation.createNotStarted("request", registry).observeChecked(() -> {
            template.execute("order:1", lease -> {
                observed("work");
                return "done";
            });
            observed("after");
        });
        SpanData locked = span("lockstep.locked");
        assertThat(locked.getParentSpanId()).isEqualTo(span("request").getSpanId());
        assertThat(span("work").getParentSpanId()).isEqualTo(locked.getSpanId());
        assertThat(span("after").getParentSpanId()).isEqualTo(span("request").getSpanId());
        assertThat(events(locked)).containsExactly("granted");
        assertThat(attribute(locked, "lockstep.lock")).isEqualTo("order:1");
        assertThat(Long.parseLong(attribute(locked, "lockstep.token"))).isPositive();
        assertThat(attribute(locked, "group")).isEqualTo("order");
        assertThat(attribute(locked, "client")).isEqualTo("me");
        assertThat(attribute(locked, "engine")).isEqualTo("memory");
        assertThat(attribute(locked, "outcome")).isEqualTo("released");
    }

    @Test
    void waitNamesTheHolder() throws Exception {
        Lease held = rival.lock("order:2").acquireAsync().get();
        CompletableFuture<String> work = CompletableFuture.supplyAsync(() -> {
            try {
                return template.waitAtMost(Duration.ofSeconds(20)).execute("order:2", lease -> "done");
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        // The engine is asked beside the call.
        await().atMost(Duration.ofSeconds(20))
                .until(() -> waits.stream()
                        .anyMatch(context -> context.getHighCardinalityKeyValue("lockstep.holder") != null));
        held.close();
        assertThat(work.get(30, TimeUnit.SECONDS)).isEqualTo("done");
        SpanData wait = span("lockstep.wait");
        SpanData locked = span("lockstep.locked");
        assertThat(wait.getParentSpanId()).isEqualTo(locked.getSpanId());
        assertThat(attribute(wait, "lockstep.holder")).contains("rival");
        assertThat(events(locked)).containsExactly("waiting", "granted");
        assertThat(wait.getEndEpochNanos()).isLessThanOrEqualTo(locked.getEndEpochNanos());
    }

    @Test
    void parentsAreRightAcrossThreadsAndFutures() throws Exception {
        Lease held = rival.lock("order:3").acquireAsync().get();
        CompletableFuture<String> inner = new CompletableFuture<>();
        Observation request = Observation.start("request", registry);
        CompletableFuture<String> result;
        try (Observation.Scope scope = request.openScope()) {
            result = template.waitAtMost(Duration.ofSeconds(20)).executeAsync("order:3", lease -> {
                observed("work");
                return inner;
            });
        }
        request.stop();
        assertThat(registry.getCurrentObservation()).isNull();
        await().atMost(Duration.ofSeconds(20))
                .until(() -> !client.snapshot().waiters().isEmpty());
        held.close();
        await().atMost(Duration.ofSeconds(20))
                .until(() -> !client.snapshot().holds().isEmpty());
        assertThat(exporter.getFinishedSpanItems())
                .noneMatch(span -> span.getName().equals("lockstep.locked"));
        inner.complete("done");
        assertThat(result.get(30, TimeUnit.SECONDS)).isEqualTo("done");
        await().atMost(Duration.ofSeconds(20))
                .until(() -> exporter.getFinishedSpanItems().size() == 4);
        SpanData locked = span("lockstep.locked");
        assertThat(locked.getParentSpanId()).isEqualTo(span("request").getSpanId());
        assertThat(locked.getTraceId()).isEqualTo(span("request").getTraceId());
        assertThat(span("work").getParentSpanId()).isEqualTo(locked.getSpanId());
        assertThat(span("lockstep.wait").getParentSpanId()).isEqualTo(locked.getSpanId());
    }

    @Test
    void lossIsAnEventOfItsSpan() {
        assertThatThrownBy(() -> template.execute(
                        client.lock("order:4", LockOptions.defaults().maxHold(Duration.ofMillis(20))), lease -> {
                            await().atMost(Duration.ofSeconds(20)).until(() -> !lease.isValid());
                            return "done";
                        }))
                .isInstanceOf(LockLostAfterWorkException.class);
        SpanData locked = span("lockstep.locked");
        assertThat(events(locked)).startsWith("granted", "lost");
        assertThat(attribute(locked, "outcome")).isEqualTo("lost");
        assertThat(attribute(locked, "lockstep.loss")).isEqualTo("max_hold_reached");
    }

    @Test
    void multiLockIsOneSpan() throws Exception {
        template.execute(client.multiLock("a:1", "a:2"), lease -> {
            client.lock("b").acquire().close(); // another lock, which nobody asked to observe
            return "done";
        });
        SpanData locked = span("lockstep.locked");
        assertThat(events(locked)).containsExactly("granted", "granted");
        assertThat(attribute(locked, "lockstep.lock")).isEqualTo("a:1,a:2");
        assertThat(exporter.getFinishedSpanItems()).hasSize(1);
    }

    @Test
    void multiLockThatDoesNotGetAllOfItsLocksHasNotReleasedThem() throws Exception {
        Lease held = rival.lock("a:2").acquire();
        assertThatThrownBy(() -> template.waitAtMost(Duration.ofMillis(10))
                        .execute(client.multiLock("a:1", "a:2"), lease -> "done"))
                .isInstanceOf(LockTimeoutException.class);
        held.close();
        SpanData locked = span("lockstep.locked");
        assertThat(events(locked)).contains("granted");
        assertThat(attribute(locked, "outcome")).isEqualTo("timeout");
    }

    @Test
    void multiLockThatLosesOneOfItsLocksIsLost() {
        assertThatThrownBy(() -> template.execute(client.multiLock("a:1", "a:2"), lease -> {
                    assertThat(rival.forceRelease("a:2")).isTrue();
                    await().atMost(Duration.ofSeconds(20)).until(() -> !lease.isValid());
                    return "done";
                }))
                .isInstanceOf(LockLostAfterWorkException.class);
        SpanData locked = span("lockstep.locked");
        assertThat(events(locked)).contains("lost");
        assertThat(attribute(locked, "outcome")).isEqualTo("lost");
        assertThat(attribute(locked, "lockstep.loss")).isEqualTo("revoked");
    }

    /** Its locks but the first are called for in a thread of the client. */
    @Test
    void asynchronousMultiLockIsOneSpanAndLosesWithEachOfItsLocks() {
        try (LockClient chosen = client("chosen", observations.aroundAcquire())) {
            CompletableFuture<String> work = new CompletableFuture<>();
            CompletableFuture<String> result = observations
                    .observe(chosen.template())
                    .executeAsync(chosen.multiLock("a:1", "a:2"), lease -> {
                        lease.onLost(reason -> work.complete("done"));
                        assertThat(rival.forceRelease("a:2")).isTrue();
                        return work;
                    });
            assertThat(result)
                    .failsWithin(Duration.ofSeconds(20))
                    .withThrowableThat()
                    .withCauseInstanceOf(LockLostAfterWorkException.class);
        }
        await().atMost(Duration.ofSeconds(20))
                .until(() -> !exporter.getFinishedSpanItems().isEmpty());
        SpanData locked = span("lockstep.locked");
        assertThat(events(locked)).startsWith("granted", "granted").contains("lost");
        assertThat(attribute(locked, "outcome")).isEqualTo("lost");
        assertThat(exporter.getFinishedSpanItems()).hasSize(1);
    }

    @Test
    void asynchronousMultiLockThatWaitsForEachLockIsOneSpan() throws Exception {
        Lease first = rival.lock("a:1").acquireAsync().get();
        Lease second = rival.lock("a:2").acquireAsync().get();
        CompletableFuture<String> result = template.waitAtMost(Duration.ofSeconds(20))
                .executeAsync(client.multiLock("a:1", "a:2"), lease -> CompletableFuture.completedFuture("done"));
        await().atMost(Duration.ofSeconds(20)).until(() -> waits.size() == 1);
        first.close();
        await().atMost(Duration.ofSeconds(20)).until(() -> waits.size() == 2);
        second.close();
        assertThat(result.get(20, TimeUnit.SECONDS)).isEqualTo("done");
        await().atMost(Duration.ofSeconds(20))
                .until(() -> exporter.getFinishedSpanItems().size() == 3);
        SpanData locked = span("lockstep.locked");
        assertThat(events(locked)).containsExactly("waiting", "granted", "waiting", "granted");
        assertThat(exporter.getFinishedSpanItems())
                .filteredOn(span -> span.getName().equals("lockstep.wait"))
                .extracting(SpanData::getParentSpanId)
                .containsExactly(locked.getSpanId(), locked.getSpanId());
    }

    @Test
    void eachCallOfAnAsynchronousMultiLockHasTheParentOfTheFirst() throws Exception {
        try (LockClient chosen = client("chosen", observations.aroundAcquire())) {
            Observation request = Observation.start("request", registry);
            CompletableFuture<Lease> acquiring;
            try (Observation.Scope scope = request.openScope()) {
                acquiring = chosen.multiLock("a:1", "a:2").acquireAsync();
            }
            acquiring.get(20, TimeUnit.SECONDS).close();
            request.stop();
        }
        assertThat(exporter.getFinishedSpanItems())
                .filteredOn(span -> span.getName().equals("lockstep.acquire"))
                .extracting(SpanData::getParentSpanId)
                .containsExactly(span("request").getSpanId(), span("request").getSpanId());
    }

    @Test
    void callThatIsRefusedIsAnError() throws Exception {
        Lease held = rival.lock("order:5").acquire();
        assertThatThrownBy(() -> template.waitAtMost(Duration.ofMillis(10)).execute("order:5", lease -> "done"))
                .isInstanceOf(LockTimeoutException.class);
        held.close();
        SpanData locked = span("lockstep.locked");
        assertThat(attribute(locked, "outcome")).isEqualTo("timeout");
        assertThat(locked.getStatus().getStatusCode()).hasToString("ERROR");
    }

    @Test
    void otherCallsAreObservedByChoice() throws Exception {
        client.lock("order:6").acquire().close();
        assertThat(exporter.getFinishedSpanItems()).isEmpty();
        try (LockClient chosen = client("chosen", observations.aroundAcquire())) {
            Observation.createNotStarted("request", registry).observeChecked(() -> {
                Lease lease = chosen.lock("order:7").acquire();
                observed("work");
                lease.close();
            });
        }
        SpanData acquire = span("lockstep.acquire");
        assertThat(acquire.getParentSpanId()).isEqualTo(span("request").getSpanId());
        assertThat(span("work").getParentSpanId()).isEqualTo(span("request").getSpanId());
        assertThat(attribute(acquire, "outcome")).isEqualTo("acquired");
        assertThat(attribute(acquire, "lockstep.lock")).isEqualTo("order:7");
    }

    @Test
    void asynchronousCallThatIsObservedByChoiceHasItsWaitInside() throws Exception {
        Lease held = rival.lock("order:9").acquireAsync().get();
        try (LockClient chosen = client("chosen", observations.aroundAcquire())) {
            Observation request = Observation.start("request", registry);
            CompletableFuture<Lease> acquiring;
            try (Observation.Scope scope = request.openScope()) {
                acquiring = chosen.lock("order:9").acquireAsync();
            }
            request.stop();
            await().atMost(Duration.ofSeconds(20)).until(() -> waits.size() == 1);
            held.close();
            acquiring.get(20, TimeUnit.SECONDS).close();
        }
        SpanData acquire = span("lockstep.acquire");
        assertThat(acquire.getParentSpanId()).isEqualTo(span("request").getSpanId());
        assertThat(span("lockstep.wait").getParentSpanId()).isEqualTo(acquire.getSpanId());
        assertThat(events(acquire)).containsExactly("waiting", "granted");
        assertThat(attribute(acquire, "outcome")).isEqualTo("acquired");
        assertThat(attribute(acquire, "group")).isEqualTo("order");
    }

    @Test
    void holdersAreNotAskedForByChoice() throws Exception {
        try (LockClient chosen = client("chosen", observations.withoutHolders())) {
            Lease held = rival.lock("order:8").acquireAsync().get();
            LockTemplate brief = observations.observe(chosen.template()).waitAtMost(Duration.ofMillis(200));
            assertThatThrownBy(() -> brief.execute("order:8", lease -> "done"))
                    .isInstanceOf(LockTimeoutException.class);
            held.close();
        }
        assertThat(attribute(span("lockstep.wait"), "lockstep.holder")).isEqualTo("null");
    }
}
