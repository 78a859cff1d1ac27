/**
 * Leader elections: a lock with a task. They stand on the public API, and on what {@code ElectionHost} names of a client.
 *
 * <p>May call {@code concurrent}, the API and the SPI. Called by {@code client}.
 */
@NullMarked
package dev.lockstep.internal.election;

import org.jspecify.annotations.NullMarked;
