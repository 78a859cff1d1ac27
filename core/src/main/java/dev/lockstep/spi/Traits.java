package dev.lockstep.spi;

import java.time.Duration;

/**
 * What an engine can do, fixed for the life of a backend.
 *
 * @param push whether waiters are woken by the engine rather than by polling
 * @param tellsWanted whether {@link Grant#isWanted()} is ever true
 * @param shared whether there is {@link dev.lockstep.LockMode#SHARED}
 * @param fair whether claims that may not barge are granted in the order of their arrival
 * @param minTtl the smallest ttl that the engine can keep
 * @param limits whether shared claims may have a {@link ClaimRequest#limit()}, so that there are semaphores
 */
public record Traits(boolean push, boolean tellsWanted, boolean shared, boolean fair, Duration minTtl, boolean limits) {
    /**
     * Makes those of an engine without semaphores.
     *
     * @param push see {@link #push()}
     * @param tellsWanted see {@link #tellsWanted()}
     * @param shared see {@link #shared()}
     * @param fair see {@link #fair()}
     * @param minTtl see {@link #minTtl()}
     */
    public Traits(boolean push, boolean tellsWanted, boolean shared, boolean fair, Duration minTtl) {
        this(push, tellsWanted, shared, fair, minTtl, false);
    }

    /**
     * Makes those of an engine that has semaphores, too.
     *
     * @return a copy with {@link #limits()}
     */
    public Traits withLimits() {
        return new Traits(push, tellsWanted, shared, fair, minTtl, true);
    }
}
