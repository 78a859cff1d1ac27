package dev.lockstep.internal.semaphore;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.internal.ScriptedBackend;
import dev.lockstep.internal.TurnstileFixture;
import dev.lockstep.internal.client.Client;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A call for permits that gives up returns when the engine has confirmed, or has owed an answer for long enough. */
@Timeout(60)
class PermitGivingUpTest {
    private static final Duration TIMEOUT = TurnstileFixture.REQUEST_TIMEOUT;

    private final TurnstileFixture fixture = new TurnstileFixture();
    private final ScriptedBackend engine = fixture.engine;
    private final Client client = fixture.open(List.of());

    /** The engine was asked for a sign of life half a request timeout after its last answer. */
    @Test
    void anInterruptedCallDoesNotWaitAgainForTheSilenceBeforeTheInterrupt() throws Exception {
        Thread caller = new Thread(() -> {
            try {
                client.semaphore("s", 1).acquire();
            } catch (InterruptedException e) {
                // as it should be
            }
        });
        caller.start();
        await(() -> caller.getState() == Thread.State.WAITING);
        engine.contact();
        engine.reachable = false;
        fixture.time.advance(TIMEOUT.multipliedBy(9).dividedBy(10));
        caller.interrupt();
        await(() -> engine.claim(0).withdrawals == 1 && caller.getState() == Thread.State.WAITING);
        fixture.time.advance(TIMEOUT.multipliedBy(6).dividedBy(10).minusNanos(1));
        assertThat(caller.isAlive()).isTrue();
        fixture.time.advance(Duration.ofNanos(1));
        caller.join(TimeUnit.SECONDS.toMillis(20));
        assertThat(caller.isAlive()).isFalse();
        engine.claim(0).withdrawn.complete(null);
    }

    private void await(BooleanSupplier condition) throws InterruptedException {
        while (fixture.time.pending() == 0
                || !condition.getAsBoolean()) { // pending() shows what the thread has written
            Thread.sleep(1);
        }
    }
}
