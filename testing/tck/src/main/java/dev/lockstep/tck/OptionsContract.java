package dev.lockstep.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.Lease;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockOptions;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** While a client uses a name, all its calls agree on fairness, stickiness and reentrancy. */
abstract class OptionsContract extends ContractGroup {
    private static final LockOptions DEFAULTS = LockOptions.defaults();
    private static final LockOptions STICKY = DEFAULTS.sticky(Duration.ofSeconds(30));

    OptionsContract(LockContract contract) {
        super(contract);
    }

    private void assertConflict(LockOptions options) {
        assertThatThrownBy(() -> client().lock(NAME, options).tryAcquire())
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
