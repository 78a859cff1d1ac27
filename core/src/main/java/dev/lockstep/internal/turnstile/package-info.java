/**
 * Turns the threads of one client that want one lock into few claims at the engine. Who gets the lock, who waits, and what is
 * claimed and released is decided here and nowhere else.
 *
 * <p>May call {@code engine}, {@code events} and {@code concurrent}. Knows neither clients nor fallbacks.
 */
@NullMarked
package dev.lockstep.internal.turnstile;

import org.jspecify.annotations.NullMarked;
