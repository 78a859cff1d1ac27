package dev.lockstep.internal.turnstile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.DistributedLock;
import dev.lockstep.LockMode;
import dev.lockstep.LockOptions;
import dev.lockstep.internal.ScriptedBackend;
import dev.lockstep.internal.TurnstileFixture;
import dev.lockstep.internal.client.Client;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** A thread that waits does not park while there is something for it. */
class WakeUpTest {
    private final TurnstileFixture fixture = new TurnstileFixture();
    private final ScriptedBackend engine = fixture.engine;

    @Test
    void anOfferThatComesWhileTheThreadIsBusyWithTheLastOneIsTaken() {
        engine.answersAtOnce = true;
        engine.reportsWanted = false;
        Client client = fixture.open();
        DistributedLock lock = client.lock("a");
        lock.lock();
        SimThread waiting = new SimThread(client, "a", LockMode.EXCLUSIVE, LockOptions.defaults(), SimThread.FOREVER);
        lock.unlock();
        // The offer is not good any more when the thread looks: it releases the grant, and that takes a while.
        fixture.time.advance(Duration.ofMillis(11));
        engine.whileReleasing = () -> {
            engine.whileReleasing = () -> {};
            inAnotherThread(() -> {
                assertThat(lock.tryLock()).isTrue();
                lock.unlock();
            });
        };
        assertThat(engine.grants).hasSize(1);
        assertThat(waiting.look()).as("its wake-up was used up meanwhile").isTrue();
        assertThat(waiting.lease()).isNotNull();
        assertThat(engine.grants).hasSize(2);
    }

    private static void inAnotherThread(Runnable task) {
        Thread thread = new Thread(task, "another");
        thread.start();
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
