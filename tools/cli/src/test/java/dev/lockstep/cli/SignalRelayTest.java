package dev.lockstep.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SignalRelayTest {
    private final SignalRelay signals = new SignalRelay(Thread.currentThread());

    private GuardedProcess nextTerm() {
        return new GuardedProcess(Duration.ofSeconds(10), signals);
    }

    @Test
    void aSignalBetweenTwoTermsKeepsTheNextCommandFromStarting() throws Exception {
        GuardedProcess first = nextTerm();
        first.start(List.of("true"), Map.of());
        assertThat(first.await()).isZero();
        GuardedProcess second = nextTerm();
        signals.onSignal("TERM", 15);
        assertThat(Thread.interrupted()).isTrue();
        assertThatThrownBy(() -> second.start(List.of("true"), Map.of())).isInstanceOf(InterruptedException.class);
        assertThat(signals.endedBy()).isEqualTo(15);
    }
}
