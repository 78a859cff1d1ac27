package dev.lockstep.spi;

import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The capabilities of an engine, fixed for the life of a backend. A backend starts with {@link #of(Duration)}, an
 * engine that can do only what every engine must do, and adds what its engine can do besides. Later versions may add to
 * it, so a backend that does not know a new trait does not have it.
 *
 * <p>Immutable.
 */
public final class Traits {
    private final boolean push;
    private final boolean reportsWanted;
    private final boolean shared;
    private final boolean fair;
    private final Duration minTtl;
    private final boolean limits;

    private Traits(boolean push, boolean reportsWanted, boolean shared, boolean fair, Duration minTtl, boolean limits) {
        this.push = push;
        this.reportsWanted = reportsWanted;
        this.shared = shared;
        this.fair = fair;
        this.minTtl = Objects.requireNonNull(minTtl, "minTtl");
        this.limits = limits;
    }

    /**
     * Creates the traits of an engine that has only exclusive locks, without an order, and whose waiters poll.
     *
     * @param minTtl see {@link #minTtl()}
     * @return traits that are all false
     */
    public static Traits of(Duration minTtl) {
        return new Traits(false, false, false, false, minTtl, false);
    }

    /**
     * Sets whether the engine wakes waiters.
     *
     * @param push see {@link #push()}
     * @return a copy
     */
    public Traits withPush(boolean push) {
        return new Traits(push, reportsWanted, shared, fair, minTtl, limits);
    }

    /**
     * Sets whether a holder learns that others want its lock.
     *
     * @param reportsWanted see {@link #reportsWanted()}
     * @return a copy
     */
    public Traits withReportsWanted(boolean reportsWanted) {
        return new Traits(push, reportsWanted, shared, fair, minTtl, limits);
    }

    /**
     * Sets whether there are shared locks.
     *
     * @param shared see {@link #shared()}
     * @return a copy
     */
    public Traits withShared(boolean shared) {
        return new Traits(push, reportsWanted, shared, fair, minTtl, limits);
    }

    /**
     * Sets whether there are fair locks.
     *
     * @param fair see {@link #fair()}
     * @return a copy
     */
    public Traits withFair(boolean fair) {
        return new Traits(push, reportsWanted, shared, fair, minTtl, limits);
    }

    /**
     * Sets the smallest ttl.
     *
     * @param minTtl see {@link #minTtl()}
     * @return a copy
     */
    public Traits withMinTtl(Duration minTtl) {
        return new Traits(push, reportsWanted, shared, fair, minTtl, limits);
    }

    /**
     * Sets whether there are semaphores.
     *
     * @param limits see {@link #limits()}
     * @return a copy
     */
    public Traits withLimits(boolean limits) {
        return new Traits(push, reportsWanted, shared, fair, minTtl, limits);
    }

    /**
     * Returns whether the engine wakes waiters. Otherwise they poll.
     *
     * @return true if it wakes them
     */
    public boolean push() {
        return push;
    }

    /**
     * Returns whether {@link Grant#isWanted()} is ever true.
     *
     * @return true if a holder learns that others want its lock
     */
    public boolean reportsWanted() {
        return reportsWanted;
    }

    /**
     * Returns whether there is {@link dev.lockstep.LockMode#SHARED}.
     *
     * @return true if there are shared locks
     */
    public boolean shared() {
        return shared;
    }

    /**
     * Returns whether claims that may not barge are granted in the order of their arrival.
     *
     * @return true if there are fair locks
     */
    public boolean fair() {
        return fair;
    }

    /**
     * Returns the smallest ttl that the engine supports.
     *
     * @return the smallest ttl
     */
    public Duration minTtl() {
        return minTtl;
    }

    /**
     * Returns whether shared claims may have a {@link ClaimRequest#limit()}.
     *
     * @return true if there are semaphores
     */
    public boolean limits() {
        return limits;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Traits that
                && push == that.push
                && reportsWanted == that.reportsWanted
                && shared == that.shared
                && fair == that.fair
                && limits == that.limits
                && minTtl.equals(that.minTtl);
    }

    @Override
    public int hashCode() {
        return Objects.hash(push, reportsWanted, shared, fair, minTtl, limits);
    }

    @Override
    public String toString() {
        return "Traits[push=" + push + ", reportsWanted=" + reportsWanted + ", shared=" + shared + ", fair=" + fair
                + ", minTtl=" + minTtl + ", limits=" + limits + "]";
    }
}
