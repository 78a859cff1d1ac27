/**
 * Threads that hold one lock and wait for another: records that in the engine, reads what others have recorded, and
 * finds deadlocks.
 *
 * <p>May call {@code turnstile} and below. Called by {@code client}.
 */
@NullMarked
package dev.lockstep.internal.waits;

import org.jspecify.annotations.NullMarked;
