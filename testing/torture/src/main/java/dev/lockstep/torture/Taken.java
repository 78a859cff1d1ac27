package dev.lockstep.torture;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockLostException;
import dev.lockstep.ReleaseNotConfirmedException;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A lock that a worker has: by a lease, and perhaps below it by {@code lock()}. For one thread. */
final class Taken {
    private final Lease lease;
    private final @Nullable DistributedLock locked;
    private final AtomicBoolean toldOfLoss = new AtomicBoolean();

    private Taken(Lease lease, @Nullable DistributedLock locked) {
        this.lease = lease;
        this.locked = locked;
        lease.onLost(reason -> toldOfLoss.set(true));
    }

    static Optional<Taken> by(Optional<Lease> lease) {
        return lease.map(Taken::by);
    }

    static Taken by(Lease lease) {
        return new Taken(lease, null);
    }

    /** For a thread that has just locked: enters again, to have a lease with the same token. */
    static Optional<Taken> again(DistributedLock locked) throws InterruptedException {
        try {
            return Optional.of(new Taken(locked.acquire(), locked));
        } catch (LockLostException e) {
            isLostAt(locked::unlock, unconfirmed -> {});
            return Optional.empty();
        } catch (InterruptedException e) {
            isLostAt(locked::unlock, unconfirmed -> {});
            throw e;
        }
    }

    Lease lease() {
        return lease;
    }

    /** Whether the loss action has run. */
    boolean wasToldOfLoss() {
        return toldOfLoss.get();
    }

    /**
     * Releases it; true if that said that it had been lost.
     *
     * @param unconfirmed receives the exception if the engine did not confirm in time; the release continues in the background
     */
    boolean giveBack(Consumer<ReleaseNotConfirmedException> unconfirmed) {
        boolean lost = isLostAt(lease::close, unconfirmed);
        return locked == null ? lost : isLostAt(locked::unlock, unconfirmed) || lost;
    }

    private static boolean isLostAt(Runnable release, Consumer<ReleaseNotConfirmedException> unconfirmed) {
        try {
            release.run();
        } catch (LockLostException e) {
            return true;
        } catch (ReleaseNotConfirmedException e) {
            unconfirmed.accept(e);
        }
        return false;
    }
}
