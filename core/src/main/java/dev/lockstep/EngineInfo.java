package dev.lockstep;

import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A description of an engine and its settings for operators: what its locks guarantee, and what they do not.
 *
 * <p>Immutable. Backends create it; later versions may add to it.
 */
public final class EngineInfo {
    private final String product;
    private final String version;
    private final Optional<Instant> clock;
    private final List<String> guarantees;
    private final List<String> limits;

    private EngineInfo(
            String product, String version, Optional<Instant> clock, List<String> guarantees, List<String> limits) {
        this.product = Objects.requireNonNull(product, "product");
        this.version = Objects.requireNonNull(version, "version");
        this.clock = Objects.requireNonNull(clock, "clock");
        this.guarantees = List.copyOf(guarantees);
        this.limits = List.copyOf(limits);
    }

    /**
     * Creates one without a clock, guarantees and limits, for backends.
     *
     * @param product see {@link #product()}
     * @param version see {@link #version()}
     * @return the description
     */
    public static EngineInfo of(String product, String version) {
        return new EngineInfo(product, version, Optional.empty(), List.of(), List.of());
    }

    /**
     * Creates one with a time of day, for backends.
     *
     * @param clock see {@link #clock()}
     * @return a copy
     */
    public EngineInfo withClock(Instant clock) {
        return new EngineInfo(product, version, Optional.of(clock), guarantees, limits);
    }

    /**
     * Creates one with other guarantees, for backends.
     *
     * @param guarantees see {@link #guarantees()}
     * @return a copy
     */
    public EngineInfo withGuarantees(List<String> guarantees) {
        return new EngineInfo(product, version, clock, guarantees, limits);
    }

    /**
     * Creates one with other limits, for backends.
     *
     * @param limits see {@link #limits()}
     * @return a copy
     */
    public EngineInfo withLimits(List<String> limits) {
        return new EngineInfo(product, version, clock, guarantees, limits);
    }

    /**
     * Names the engine.
     *
     * @return its name, such as {@code Redis} or {@code Valkey}
     */
    public String product() {
        return product;
    }

    /**
     * Says which version it is.
     *
     * @return the version that the engine reports; empty if it reports none
     */
    public String version() {
        return version;
    }

    /**
     * Says what time it is by the engine's clock.
     *
     * @return the time of day, read during this request; empty if no lock depends on it
     */
    public Optional<Instant> clock() {
        return clock;
    }

    /**
     * Says what holds on this engine as it is set up.
     *
     * @return a sentence for each guarantee
     */
    public List<String> guarantees() {
        return guarantees;
    }

    /**
     * Says what does not hold, and what would break a guarantee.
     *
     * @return a sentence for each limit
     */
    public List<String> limits() {
        return limits;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof EngineInfo that
                && product.equals(that.product)
                && version.equals(that.version)
                && clock.equals(that.clock)
                && guarantees.equals(that.guarantees)
                && limits.equals(that.limits);
    }

    @Override
    public int hashCode() {
        return Objects.hash(product, version, clock, guarantees, limits);
    }

    @Override
    public String toString() {
        return "EngineInfo[product=" + product + ", version=" + version + ", clock=" + clock + ", guarantees="
                + guarantees + ", limits=" + limits + "]";
    }
}
