package dev.lockstep.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockOptions;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** While a client uses a name, all its calls agree on fairness, stickiness and reentrancy. */
abstract class OptionsContract extends ContractGroup {
    private static final LockOptions DEFAULTS = LockOptions.defaults();
    private static final LockOptions STICKY = DEFAULTS.sticky(Duration.ofSeconds(30));

    OptionsContract(LockContract contract) {
        super(contract);
    }

    private void assertConflict(LockOptions options) {
        assertConflict(() -> client().lock(NAME, options)); // an engine without sticky locks refuses even that
    }

    private static void assertConflict(Supplier<DistributedLock> lock) {
        assertThatThrownBy(() -> lock.get().tryAcquire())
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining(NAME);
    }

    @Test
    void whileALockIsHeldItsOptionsStay() throws Exception {
        Lease lease = lock().acquireAsync().get();
        assertConflict(STICKY);
        assertConflict(DEFAULTS.nonReentrant());
        assertThat(client().lock(NAME, DEFAULTS.maxHold(Duration.ofMinutes(1))).tryAcquire())
                .isEmpty(); // belongs to each use
        lease.close();
        client().lock(NAME, DEFAULTS.nonReentrant()).acquire().close();
    }

    /** A thread that holds the lock does not re-enter it with other options. */
    @Test
    void theHoldersThreadGetsNoOtherOptionsEither() {
        lock().lock();
        assertConflict(STICKY);
        assertConflict(DEFAULTS.nonReentrant());
        lock().unlock();
    }

    @Test
    @Requires(Capability.FAIR)
    void fairnessStaysToo() throws Exception {
        LockOptions fair = DEFAULTS.fair();
        lock().lock();
        assertConflict(fair);
        lock().unlock();
        try (Lease lease = client().lock(NAME, fair).acquire()) {
            assertConflict(DEFAULTS);
            assertThat(lease.isValid()).isTrue();
        }
        lock().acquire().close();
    }

    /** A read lock is another mode of the same lock. */
    @Test
    @Requires(Capability.SHARED)
    void theOptionsOfALockAreThoseOfItsReadLock() throws Exception {
        lock().lock();
        assertConflict(() -> readLock(DEFAULTS.nonReentrant()));
        lock().unlock();
        try (Lease lease = readLock(DEFAULTS.nonReentrant()).acquire()) {
            assertConflict(DEFAULTS);
            assertConflict(() -> readLock(DEFAULTS));
            assertThat(lease.isValid()).isTrue();
        }
        readLock(DEFAULTS).acquire().close();
    }

    private DistributedLock readLock(LockOptions options) {
        return client().readWriteLock(NAME, options).readLock();
    }

    /** And none of the others is left held. */
    @Test
    void aMultiLockConflictsIfOneOfItsLocksDoes() throws Exception {
        String free = "order:41"; // asked for first
        lock().lock();
        assertConflict(() -> client().multiLock(List.of(free, NAME), DEFAULTS.nonReentrant()));
        bench().awaitFree(free);
        lock().unlock();
        try (Lease lease =
                client().multiLock(List.of(free, NAME), DEFAULTS.nonReentrant()).acquire()) {
            assertConflict(DEFAULTS);
            assertThat(lease.isValid()).isTrue();
        }
        lock().acquire().close();
    }

    /** A sticky lock is used while it is retained, though nobody holds it. */
    @Test
    @Requires(Capability.TELLS_WANTED)
    void whileAStickyLockIsRetainedItsOptionsStay() throws Exception {
        client().lock(NAME, STICKY).acquire().close();
        assertThat(bench().isFree(NAME)).isFalse();
        assertConflict(DEFAULTS);
        assertConflict(DEFAULTS.sticky(Duration.ofSeconds(31)));
        rivalLock().acquire().close(); // which recalls it
        Bench.await("it is not used any more", () -> client().snapshot().holds().isEmpty() && accepts(DEFAULTS));
    }

    private boolean accepts(LockOptions options) {
        try {
            client().lock(NAME, options).tryAcquire().ifPresent(Lease::close);
            return true;
        } catch (LockConfigurationException e) {
            return false;
        }
    }

    /** Other clients' options do not matter. */
    @Test
    void anotherClientMayUseOtherOptions() throws Exception {
        lock().lock();
        assertThat(rival().lock(NAME, DEFAULTS.nonReentrant()).tryAcquire()).isEmpty();
        lock().unlock();
        rival().lock(NAME, DEFAULTS.nonReentrant()).acquire().close();
    }
}
