/**
 * Turns the threads of one client that want one lock into few claims at the engine. Only this package decides which
 * call gets the lock, which waits, and what is claimed and released.
 *
 * <p>Decisions are made under a turnstile's mutex and only leave effects, timers among them; they are performed when it
 * has been left.
 *
 * <p>May call {@code engine}, {@code events} and {@code concurrent}. Knows neither clients nor fallbacks.
 */
@NullMarked
package dev.lockstep.internal.turnstile;

import org.jspecify.annotations.NullMarked;
