/**
 * The core's additions to the SPI: an engine that is connected to later, checks of what an engine supports, the
 * caller's identity.
 *
 * <p>Calls the API and the SPI alone. Called by {@code turnstile}, {@code fallback}, {@code watch} and {@code client}.
 */
@NullMarked
package dev.lockstep.internal.engine;

import org.jspecify.annotations.NullMarked;
