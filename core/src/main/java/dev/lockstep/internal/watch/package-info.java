/**
 * Timers over all turnstiles and semaphores of a client: deadlines of holds, an engine that does not answer, abandoned
 * holds.
 *
 * <p>May call {@code turnstile}, {@code semaphore} and below. Called by {@code client} and {@code lock}.
 */
@NullMarked
package dev.lockstep.internal.watch;

import org.jspecify.annotations.NullMarked;
