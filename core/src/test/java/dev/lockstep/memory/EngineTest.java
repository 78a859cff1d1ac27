package dev.lockstep.memory;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.memory.Clients.Client;
import dev.lockstep.spi.Contexts;
import dev.lockstep.spi.VirtualScheduler;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;

/** Three bare clients of one engine on a virtual clock, and the check that they leave nothing behind. */
abstract class EngineTest {
    static final Duration TTL = Contexts.TTL;

    final VirtualScheduler time = new VirtualScheduler();
    final MemoryEngine engine = new MemoryEngine();
    final Client a = Clients.open(engine, "a", time);
    final Client b = Clients.open(engine, "b", time);
    final Client c = Clients.open(engine, "c", time);

    @AfterEach
    void nothingIsLeftBehind() {
        engine.delayReplies(Duration.ZERO);
        engine.reconnect();
        a.close();
        b.close();
        c.close();
        assertThat(engine.lockCount()).isZero();
        assertThat(engine.sessionCount()).isZero();
        time.advance(Duration.ofMinutes(1)); // what a slow link still carried arrives at nobody
        assertThat(time.pending()).isZero();
    }
}
