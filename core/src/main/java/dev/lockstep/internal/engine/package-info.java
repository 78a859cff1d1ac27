/**
 * What the core adds to the SPI: an engine that is connected to later, what an engine cannot do, who asks.
 *
 * <p>Calls the API and the SPI alone. Called by {@code turnstile}, {@code fallback}, {@code watch} and {@code client}.
 */
@NullMarked
package dev.lockstep.internal.engine;

import org.jspecify.annotations.NullMarked;
