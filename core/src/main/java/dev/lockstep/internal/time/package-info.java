/**
 * The clock of leases, which counts suspensions, and the scheduler that runs on it.
 *
 * <p>May call {@code concurrent}. Called by {@code client} alone; all others see the {@code Scheduler} of the SPI.
 */
@NullMarked
package dev.lockstep.internal.time;

import org.jspecify.annotations.NullMarked;
