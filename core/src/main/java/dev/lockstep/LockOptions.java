package dev.lockstep;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * How a lock behaves. Immutable; each method that changes something gives a changed copy:
 *
 * <pre>{@code
 * LockOptions.defaults().fair().lease(Duration.ofMinutes(5))
 * }</pre>
 *
 * <p>Fairness and reentrancy belong to the name while it is in use: two users of one client who disagree
 * about them get a {@link LockConfigurationException}. Lease time and hand-off belong to each use.
 */
public final class LockOptions {
    private static final int DEFAULT_HAND_OFF = 64;
    private static final LockOptions DEFAULTS = new LockOptions(false, true, null, DEFAULT_HAND_OFF);

    private final boolean fair;
    private final boolean reentrant;
    private final @Nullable Duration lease;
    private final int handOff;

    private LockOptions(boolean fair, boolean reentrant, @Nullable Duration lease, int handOff) {
        this.fair = fair;
        this.reentrant = reentrant;
        this.lease = lease;
        this.handOff = handOff;
    }

    /**
     * The default: not fair, reentrant, no lease time, hand-off to at most 64 local threads once another process
     * wants the lock.
     *
     * @return the default options
     */
    public static LockOptions defaults() {
        return DEFAULTS;
    }

    /**
     * Makes the lock strictly first come, first served over all threads of all processes, in the engine's order. Costs
     * a claim at the engine for each call.
     *
     * @return a copy that is fair
     */
    public LockOptions fair() {
        return new LockOptions(true, reentrant, lease, handOff);
    }

    /**
     * Makes the lock non-reentrant: a thread that holds it and asks again gets an error from {@code lock()} and {@code
     * false} from {@code tryLock}, both at once.
     *
     * @return a copy that is not reentrant
     */
    public LockOptions nonReentrant() {
        return new LockOptions(fair, false, lease, handOff);
    }

    /**
     * Sets an upper bound for one hold. When it ends, the hold is lost with {@link LossReason#LEASE_ENDED}. Without it
     * a hold lasts as long as its process lives and reaches the engine.
     *
     * @param lease how long a hold may last; positive
     * @return a copy with that bound
     * @throws IllegalArgumentException if {@code lease} is not positive
     */
    public LockOptions lease(Duration lease) {
        return new LockOptions(fair, reentrant, requirePositive(lease, "lease"), handOff);
    }

    /**
     * Sets how many times threads of this process may follow each other without asking the engine once another process
     * wants the lock. While nobody else wants it they follow each other freely.
     *
     * @param max the most hand-offs; 0 gives the lock back at once
     * @return a copy with that bound
     * @throws IllegalArgumentException if {@code max} is negative
     */
    public LockOptions handOff(int max) {
        if (max < 0) {
            throw new IllegalArgumentException("handOff must not be negative: " + max);
        }
        return new LockOptions(fair, reentrant, lease, max);
    }

    /**
     * Tells whether the lock is first come, first served over all processes.
     *
     * @return true if it is fair
     */
    public boolean isFair() {
        return fair;
    }

    /**
     * Tells whether a thread that holds the lock may take it again.
     *
     * @return true if it is reentrant
     */
    public boolean isReentrant() {
        return reentrant;
    }

    /**
     * The upper bound of one hold.
     *
     * @return the bound, or empty if there is none
     */
    public Optional<Duration> lease() {
        return Optional.ofNullable(lease);
    }

    /**
     * The most hand-offs between threads of this process once another process wants the lock.
     *
     * @return the bound
     */
    public int handOff() {
        return handOff;
    }

    private static Duration requirePositive(Duration duration, String what) {
        if (duration.isNegative() || duration.isZero()) {
            throw new IllegalArgumentException(what + " must be positive: " + duration);
        }
        return duration;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof LockOptions that
                && fair == that.fair
                && reentrant == that.reentrant
                && handOff == that.handOff
                && Objects.equals(lease, that.lease);
    }

    @Override
    public int hashCode() {
        return Objects.hash(fair, reentrant, lease, handOff);
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder("LockOptions[").append(fair ? "fair" : "unfair");
        text.append(reentrant ? ", reentrant" : ", nonReentrant");
        if (lease != null) {
            text.append(", lease=").append(lease);
        }
        return text.append(", handOff=").append(handOff).append(']').toString();
    }
}
