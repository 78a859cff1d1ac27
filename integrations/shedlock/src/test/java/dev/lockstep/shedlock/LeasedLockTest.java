package dev.lockstep.shedlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.LockClient;
import java.time.Duration;
import java.time.Instant;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.junit.jupiter.api.Test;

/** A lock in ShedLock's hands. */
class LeasedLockTest {
    private static final Duration FOUR_CENTURIES = Duration.ofDays(146_000);

    /** Nothing is calculated with it, and the lock is as it was. */
    @Test
    void aMinimumThatIsTooLongIsRefusedAsItIsByLock() {
        try (LockClient client = LockClient.connect("memory:")) {
            LockstepLockProvider provider = new LockstepLockProvider(client);
            assertThatThrownBy(() -> provider.lock(job(FOUR_CENTURIES)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("minHold must be at most 20 days");
            SimpleLock lock = provider.lock(job(Duration.ZERO)).orElseThrow();
            assertThatThrownBy(() -> lock.extend(FOUR_CENTURIES, FOUR_CENTURIES))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("minHold must be at most 20 days");
            lock.unlock();
            assertThat(client.inspect("job").isFree()).isTrue();
        }
    }

    private static LockConfiguration job(Duration atLeast) {
        return new LockConfiguration(Instant.now(), "job", FOUR_CENTURIES, atLeast);
    }
}
