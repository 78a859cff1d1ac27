package dev.lockstep.spi;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The context of a backend. */
class BackendContextTest {
    @Test
    void aRenewalMayTakeTheRequestTimeoutButNotMoreThanAThirdOfTheTtl() {
        assertThat(renewalTimeout(Duration.ofSeconds(30), Duration.ofSeconds(5)))
                .isEqualTo(Duration.ofSeconds(5));
        assertThat(renewalTimeout(Duration.ofSeconds(6), Duration.ofSeconds(5))).isEqualTo(Duration.ofSeconds(2));
    }

    private static Duration renewalTimeout(Duration ttl, Duration requestTimeout) {
        BackendContext any = Contexts.of("client", new VirtualScheduler());
        return BackendContext.of(
                        any.namespace(),
                        any.clientName(),
                        any.clientId(),
                        ttl,
                        requestTimeout,
                        any.retryBackoff(),
                        any.executor(),
                        any.scheduler())
                .renewalTimeout();
    }
}
