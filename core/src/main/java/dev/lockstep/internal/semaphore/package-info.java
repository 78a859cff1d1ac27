/**
 * Semaphores: each permit is a claim of its own, with a limit on how many may hold together. They share nothing with the
 * turnstiles of locks but the client, of which they see {@code SemaphoreHost}.
 *
 * <p>May call {@code concurrent}, the API and the SPI. Called by {@code client} and {@code watch}.
 */
@NullMarked
package dev.lockstep.internal.semaphore;

import org.jspecify.annotations.NullMarked;
