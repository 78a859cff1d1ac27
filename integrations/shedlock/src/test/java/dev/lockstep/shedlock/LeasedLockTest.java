package dev.lockstep.shedlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.LockClient;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import net.javacrumbs.shedlock.core.AbstractSimpleLock;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
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

    /** A lock of another provider, and each extension of it. */
    private static final class OldLock extends AbstractSimpleLock {
        private final List<String> events;

        OldLock(LockConfiguration configuration, List<String> events) {
            super(configuration);
            this.events = events;
        }

        @Override
        protected void doUnlock() {
            events.add("unlocked");
        }

        @Override
        protected Optional<SimpleLock> doExtend(LockConfiguration longer) {
            events.add("extended");
            return Optional.of(new OldLock(longer, events));
        }
    }

    /** The application has no handle any more that could release the extended lock of the old provider. */
    @Test
    void anExtensionOfBothLocksThatFailsReleasesTheOldOne() {
        try (LockClient client = LockClient.connect("memory:")) {
            List<String> events = new ArrayList<>();
            LockProvider both = new LockstepLockProvider(client)
                    .alongside(configuration -> Optional.of(new OldLock(configuration, events)));
            SimpleLock lost = both.lock(job(Duration.ZERO)).orElseThrow();
            assertThat(client.forceRelease("job")).isTrue();
            assertThat(lost.extend(Duration.ofMinutes(1), Duration.ZERO)).isEmpty();
            assertThat(events).containsExactly("extended", "unlocked");
            events.clear();
            SimpleLock refused = both.lock(job(Duration.ZERO)).orElseThrow();
            assertThatThrownBy(() -> refused.extend(FOUR_CENTURIES, FOUR_CENTURIES))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThat(events).containsExactly("extended", "unlocked");
        }
    }

    private static LockConfiguration job(Duration atLeast) {
        return new LockConfiguration(Instant.now(), "job", FOUR_CENTURIES, atLeast);
    }
}
