/**
 * Metrics and traces with Micrometer: {@link dev.lockstep.micrometer.LockMetrics} and {@link
 * dev.lockstep.micrometer.LockObservations}.
 */
@NullMarked
package dev.lockstep.micrometer;

import org.jspecify.annotations.NullMarked;
