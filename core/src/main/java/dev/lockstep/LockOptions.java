package dev.lockstep;

import dev.lockstep.spi.Durations;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * How a lock behaves. Immutable; each method that changes something returns a changed copy:
 *
 * <pre>{@code
 * LockOptions.defaults().fair().maxHold(Duration.ofMinutes(5))
 * }</pre>
 *
 * <p>Fairness, stickiness and reentrancy belong to the name while a client uses it: a call with different ones throws a
 * {@link LockConfigurationException}. A client uses a name from the first call until no thread or lease of the client
 * holds the lock, no call waits for it, no lost hold is still to be released, and nothing is retained or pending in the
 * engine: a retained sticky lock, a minimum time that is not over, and a release that is not confirmed count as uses.
 * Other clients do not matter. Use the same options for a name everywhere. Maximum time, minimum time, hand-off and
 * group belong to each use.
 */
public final class LockOptions {
    private static final int DEFAULT_HAND_OFF = 64;
    private static final LockOptions DEFAULTS = new LockOptions(false, true, null, null, DEFAULT_HAND_OFF, null, null);

    private final boolean fair;
    private final boolean reentrant;
    private final @Nullable Duration maxHold;
    private final @Nullable Duration minHold;
    private final int handOff;
    private final @Nullable Duration sticky;
    private final @Nullable String group;

    private LockOptions(
            boolean fair,
            boolean reentrant,
            @Nullable Duration maxHold,
            @Nullable Duration minHold,
            int handOff,
            @Nullable Duration sticky,
            @Nullable String group) {
        this.fair = fair;
        this.reentrant = reentrant;
        this.maxHold = maxHold;
        this.minHold = minHold;
        this.handOff = handOff;
        this.sticky = sticky;
        this.group = group;
        if (fair && sticky != null) {
            throw new LockConfigurationException(
                    null, "A lock cannot be both fair and sticky: a sticky lock favours its client.");
        }
        if (maxHold != null && minHold != null && minHold.compareTo(maxHold) > 0) {
            throw new LockConfigurationException(
                    null, "A lock cannot be held for at least " + minHold + " and at most " + maxHold + ".");
        }
    }

    /**
     * The default: not fair, reentrant, no maximum time, hand-off to at most 64 local threads, for at most 10 ms,
     * once another process wants the lock, not sticky.
     *
     * @return the default options
     */
    public static LockOptions defaults() {
        return DEFAULTS;
    }

    /**
     * Makes the lock strictly first come, first served over all threads of all processes, in the engine's order. Each
     * call costs a claim in the engine. Excludes {@link #sticky(Duration)}.
     *
     * @return a copy that is fair
     * @throws LockConfigurationException if the lock is sticky
     */
    public LockOptions fair() {
        return new LockOptions(true, reentrant, maxHold, minHold, handOff, sticky, group);
    }

    /**
     * Makes the lock non-reentrant: a thread that holds it and asks again gets a {@link SelfDeadlockException} at once,
     * from every call.
     *
     * @return a copy that is not reentrant
     */
    public LockOptions nonReentrant() {
        return new LockOptions(fair, false, maxHold, minHold, handOff, sticky, group);
    }

    /**
     * Sets an upper bound for one hold. When it is reached, the hold is lost with {@link LossReason#MAX_HOLD_REACHED}. Without it
     * a hold lasts as long as its process lives and reaches the engine. If a thread acquires it again while it holds it,
     * the earliest end of all its uses applies to the whole hold.
     *
     * @param maxHold how long a hold may last; positive. {@code ChronoUnit.FOREVER.getDuration()} is no bound
     * @return a copy with that bound
     * @throws IllegalArgumentException if {@code maxHold} is not positive
     * @throws LockConfigurationException if it is shorter than the minimum time
     */
    public LockOptions maxHold(Duration maxHold) {
        return new LockOptions(
                fair, reentrant, Durations.requireLimit(maxHold, "maxHold"), minHold, handOff, sticky, group);
    }

    /**
     * Sets a lower bound for one hold. A hold that is released earlier is over for its owner at once: {@code unlock()}
     * and {@code close()} do not wait. But the lock stays held until the time has passed since it was acquired, and
     * nobody gets it before, not even another thread of this process. Use it for a scheduled job whose instances have
     * different clocks: if the minimum time is longer than that difference, each run happens once.
     *
     * <p>If the client is closed, the lock stays held too where the engine can expire it by itself: on Redis, SQL and
     * memory. On Redlock, etcd and ZooKeeper closing the client frees it. If the process dies, the lock is free after the
     * ttl, as always.
     *
     * @param minHold how long a hold lasts at least; from 1 millisecond to 20 days
     * @return a copy with that bound
     * @throws IllegalArgumentException if {@code minHold} is shorter or longer
     * @throws LockConfigurationException if it is longer than the maximum time
     */
    public LockOptions minHold(Duration minHold) {
        Duration checked = Durations.requireTimeout(minHold, "minHold");
        return new LockOptions(fair, reentrant, maxHold, checked, handOff, sticky, group);
    }

    /**
     * Sets how many times threads of this process may follow each other without asking the engine once another process
     * wants the lock, and for at most 10 ms. While no other process is known to want it, there is no limit; some engines
     * cannot know, and always apply it.
     *
     * @param max the most hand-offs; 0 releases the lock at once
     * @return a copy with that bound
     * @throws IllegalArgumentException if {@code max} is negative
     */
    public LockOptions handOff(int max) {
        if (max < 0) {
            throw new IllegalArgumentException("handOff must not be negative: " + max);
        }
        return new LockOptions(fair, reentrant, maxHold, minHold, max, sticky, group);
    }

    /**
     * Makes the lock sticky: after the last release this client retains it, so that the client's next {@code lock()}
     * needs no round trip. The lock is released when another client waits for it, when this client has not used it for
     * a time, or on close. A retained lock is still held: meanwhile another client's {@code tryLock} returns false, and
     * after a crash the lock is free only after the ttl. Excludes {@link #fair()}; refused by engines that cannot
     * report that a lock is wanted.
     *
     * @param idle how long to retain it while it is not used; positive. {@code ChronoUnit.FOREVER.getDuration()} means
     *     until another client wants it
     * @return a copy that is sticky
     * @throws IllegalArgumentException if {@code idle} is not positive
     * @throws LockConfigurationException if the lock is fair
     */
    public LockOptions sticky(Duration idle) {
        return new LockOptions(
                fair, reentrant, maxHold, minHold, handOff, Durations.requireLimit(idle, "sticky"), group);
    }

    /**
     * Puts the lock into a group, for metrics and traces. There are many names such as {@code order:42}, and few groups
     * such as {@code order}: metrics have a tag for the group, and none for the name. If neither this nor a rule of the
     * metrics sets the group, it is the part of the name before the first {@code :}. It does not change how the lock
     * behaves.
     *
     * @param group one of a few; {@code @Locked} sets its constant name
     * @return a copy with that group
     * @throws IllegalArgumentException if it is blank
     */
    public LockOptions group(String group) {
        if (group.isBlank()) {
            throw new IllegalArgumentException("The group is empty.");
        }
        return new LockOptions(fair, reentrant, maxHold, minHold, handOff, sticky, group);
    }

    /**
     * Returns whether the lock is first come, first served over all processes.
     *
     * @return true if it is fair
     */
    public boolean isFair() {
        return fair;
    }

    /**
     * Returns whether a thread that holds the lock may take it again.
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
    public Optional<Duration> maxHold() {
        return Optional.ofNullable(maxHold);
    }

    /**
     * The lower bound of one hold.
     *
     * @return the bound, or empty if there is none
     */
    public Optional<Duration> minHold() {
        return Optional.ofNullable(minHold);
    }

    /**
     * The most hand-offs between threads of this process once another process wants the lock.
     *
     * @return the bound
     */
    public int handOff() {
        return handOff;
    }

    /**
     * How long the lock is retained while it is not used.
     *
     * @return the time, or empty if the lock is not sticky
     */
    public Optional<Duration> sticky() {
        return Optional.ofNullable(sticky);
    }

    /**
     * The group for metrics and traces.
     *
     * @return the group, or empty if none was set
     */
    public Optional<String> group() {
        return Optional.ofNullable(group);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof LockOptions that
                && fair == that.fair
                && reentrant == that.reentrant
                && handOff == that.handOff
                && Objects.equals(maxHold, that.maxHold)
                && Objects.equals(minHold, that.minHold)
                && Objects.equals(sticky, that.sticky)
                && Objects.equals(group, that.group);
    }

    @Override
    public int hashCode() {
        return Objects.hash(fair, reentrant, maxHold, minHold, handOff, sticky, group);
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder("LockOptions[").append(fair ? "fair" : "unfair");
        text.append(reentrant ? ", reentrant" : ", nonReentrant");
        if (maxHold != null) {
            text.append(", maxHold=").append(maxHold);
        }
        if (minHold != null) {
            text.append(", minHold=").append(minHold);
        }
        if (sticky != null) {
            text.append(", sticky=").append(sticky);
        }
        if (group != null) {
            text.append(", group=").append(group);
        }
        return text.append(", handOff=").append(handOff).append(']').toString();
    }
}
