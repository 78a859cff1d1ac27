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
 */
public record Traits(boolean push, boolean tellsWanted, boolean shared, boolean fair, Duration minTtl) {}
