package dev.lockstep.internal.fallback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.Fallback;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.internal.ScriptedBackend;
import dev.lockstep.internal.client.Client;
import dev.lockstep.memory.MemoryEngine;
import dev.lockstep.spi.BackendFactory;
import dev.lockstep.spi.VirtualScheduler;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** How a fallback is chosen, and what is refused. */
class FallbackSettingsTest {
    private static final BackendFactory UNREACHABLE = context -> {
        throw new LockUnavailableException(null, "away");
    };

    @Test
    void aTimeThatIsNotPositiveIsRefused() {
        for (Duration bad : List.of(Duration.ZERO, Duration.ofMillis(-1))) {
            assertThatThrownBy(() -> Fallback.thisJvmOnly().after(bad)).isInstanceOf(IllegalArgumentException.class);
        }
        assertThatThrownBy(() -> Fallback.failFast().after(Duration.ofSeconds(1)))
                .isInstanceOf(IllegalStateException.class);
    }

    @Test
    @SuppressWarnings("NullAway")
    void nullIsRefused() {
        assertThatThrownBy(() -> Fallback.to(null)).isInstanceOf(NullPointerException.class);
        assertThatThrownBy(() -> LockClient.builder().fallback(null)).isInstanceOf(NullPointerException.class);
    }

    @Test
    void thePolicyDoesNotShowPasswords() {
        Fallback policy = Fallback.to("redis://user:s3cret@host").after(Duration.ofSeconds(1));
        assertThat(policy.toString()).contains("ENGINE", "PT1S").doesNotContain("s3cret");
        assertThat(policy.url()).contains("redis://user:s3cret@host");
        assertThat(policy.after()).contains(Duration.ofSeconds(1));
    }

    @Test
    void aFallbackThatCannotBeIsRefused() {
        for (String bad : List.of("memory:a/b", "no scheme", "unknown://s3cret@host", "memory:main")) {
            assertThatThrownBy(() -> LockClient.builder()
                            .url("memory:main")
                            .fallback(Fallback.to(bad))
                            .connect())
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageNotContaining("s3cret");
        }
    }

    @Test
    void aFallbackThatIsUnreachableAtTheStartIsReported() {
        VirtualScheduler time = new VirtualScheduler();
        assertThatThrownBy(() ->
                        FallbackFixture.open(context -> new ScriptedBackend(time), UNREACHABLE, time, event -> {}))
                .isInstanceOf(LockUnavailableException.class);
    }

    @Test
    void theClientOffersWhatBothEnginesCan() {
        FallbackFixture bench = new FallbackFixture();
        assertThat(bench.client.context().traits().reportsWanted()).isTrue();
        ScriptedBackend silent = new ScriptedBackend(bench.time);
        silent.reportsWanted = false;
        Client client = FallbackFixture.open(
                context -> new ScriptedBackend(bench.time), context -> silent, bench.time, event -> {});
        assertThat(client.context().traits().reportsWanted()).isFalse();
        assertThat(client.context().traits().shared()).isTrue();
    }

    @Test
    void aUrlCanFallBackToThisJvm() {
        try (LockClient client = LockClient.builder()
                .url("memory:main")
                .fallback(Fallback.thisJvmOnly().after(Duration.ofDays(1_000_000)))
                .connect()) {
            Lease lease = client.lock("a").tryAcquire().orElseThrow();
            assertThat(lease.isFallback()).isFalse();
            assertThat(lease.token()).isPositive();
            lease.close();
        }
    }

    @Test
    void failFastIsTheDefault() {
        MemoryEngine engine = new MemoryEngine();
        try (LockClient client = LockClient.builder()
                .backend(engine)
                .requestTimeout(Duration.ofMillis(50))
                .connect()) {
            engine.disconnect(MemoryEngine.Outage.REQUESTS_LOST);
            assertThatThrownBy(client.lock("a")::lock).isInstanceOf(LockUnavailableException.class);
            engine.reconnect();
        }
    }
}
