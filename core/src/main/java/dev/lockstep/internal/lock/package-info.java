/**
 * The objects that users work with: locks, leases, the template. Translates their calls into those of a turnstile, and
 * its results into values and exceptions. Decides nothing about the lock.
 *
 * <p>May call {@code turnstile}, {@code watch}, {@code events} and below. Called by {@code client}.
 */
@NullMarked
package dev.lockstep.internal.lock;

import org.jspecify.annotations.NullMarked;
