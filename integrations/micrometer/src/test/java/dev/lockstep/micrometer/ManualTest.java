package dev.lockstep.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.LockClient;
import dev.lockstep.LockOptions;
import dev.lockstep.LockTemplate;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import org.junit.jupiter.api.Test;

/** The code of docs/observability.md. */
class ManualTest {
    @Test
    void metrics() throws InterruptedException {
        String url = "memory:";
        MeterRegistry registry = new SimpleMeterRegistry();
        // tag::observability-metrics
        LockClient locks = LockClient.builder()
                .url(url)
                .clientName("shop") // the tag client: the same after a restart
                .observer(new LockMetrics(registry))
                .connect();
        // end::observability-metrics
        locks.lock("order:42").acquire().close();
        locks.close();
        assertThat(new Meters(registry).values("client")).containsExactly("shop");
        assertThat(new Meters(registry).values("group")).containsExactly("order");
    }

    @Test
    void groups() throws InterruptedException {
        MeterRegistry registry = new SimpleMeterRegistry();
        // tag::observability-groups
        LockMetrics metrics = new LockMetrics(registry).groups(name -> name.startsWith("tenant-") ? "tenant" : null);
        // end::observability-groups
        try (LockClient locks =
                LockClient.builder().url("memory:").observer(metrics).connect()) {
            locks.lock("tenant-7").acquire().close();
            // tag::observability-group-option
            LockOptions options = LockOptions.defaults().group("shipping");
            // end::observability-group-option
            locks.lock("x1", options).acquire().close();
        }
        assertThat(new Meters(registry).values("group")).containsExactly("shipping", "tenant");
    }

    @Test
    void traces() throws InterruptedException {
        String url = "memory:";
        ObservationRegistry registry = ObservationRegistry.create();
        // tag::observability-traces
        LockObservations observations = new LockObservations(registry);
        LockClient locks =
                LockClient.builder().url(url).observer(observations.observer()).connect();
        LockTemplate template = observations.observe(locks.template());
        // end::observability-traces
        assertThat(template.<String, RuntimeException>execute("order:42", lease -> "done"))
                .isEqualTo("done");
        locks.close();
    }
}
