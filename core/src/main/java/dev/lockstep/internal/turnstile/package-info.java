/**
 * Turns the threads of one client that want one lock into few claims at the engine. Only this package decides which
 * call gets the lock, which waits, and what is claimed and released. Decisions are made under a mutex and set no timers:
 * they leave effects, which {@code Actions} performs after it.
 *
 * <p>May call {@code engine}, {@code events} and {@code concurrent}. Knows neither clients nor fallbacks.
 */
@NullMarked
package dev.lockstep.internal.turnstile;

import org.jspecify.annotations.NullMarked;
