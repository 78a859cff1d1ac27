/**
 * A backend over two others: claims go to the second while the first is down. To the turnstiles it is a backend like any
 * other.
 *
 * <p>May call {@code engine}, {@code events} and {@code concurrent}. Called by {@code client} alone.
 */
@NullMarked
package dev.lockstep.internal.fallback;

import org.jspecify.annotations.NullMarked;
