package dev.lockstep.internal.fallback;

import dev.lockstep.spi.BackendFactory;
import java.time.Duration;

/**
 * A fallback in terms of the SPI.
 *
 * @param factory makes the backend to fall back to
 * @param after how long the engine must have been silent
 */
public record FallbackPlan(BackendFactory factory, Duration after) {}
