package dev.lockstep;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * What an engine is and how it is set up, for operators: what locks on it can be relied on for, and for what not.
 *
 * @param product the engine's name, such as {@code Redis} or {@code Valkey}
 * @param version the version that it tells; empty if it tells none
 * @param clock the time of day by its clock, read while it was asked; empty if no lock depends on it
 * @param guarantees what holds on this engine as it is set up, a sentence each
 * @param limits what does not hold, and what would break a guarantee, a sentence each
 */
public record EngineInfo(
        String product, String version, Optional<Instant> clock, List<String> guarantees, List<String> limits) {
    /**
     * Makes an immutable copy.
     *
     * @param product the engine's name
     * @param version its version
     * @param clock its time of day
     * @param guarantees what holds
     * @param limits what does not
     */
    public EngineInfo {
        guarantees = List.copyOf(guarantees);
        limits = List.copyOf(limits);
    }
}
