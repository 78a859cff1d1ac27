/**
 * The core's own: not exported, and free to change. Each package says what it may call; testing/architecture checks that:
 * client → fallback, lock, watch → turnstile → engine, events → concurrent, time.
 */
@NullMarked
package dev.lockstep.internal;

import org.jspecify.annotations.NullMarked;
