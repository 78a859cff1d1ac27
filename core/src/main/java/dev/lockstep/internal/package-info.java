/**
 * The core's own: not exported, and free to change. Each package says what it may call; testing/architecture checks that:
 * client → fallback, election, lock, waits, watch → semaphore, turnstile → engine, events → concurrent, time. An election and a
 * semaphore see only the API, the SPI and the interface of their host.
 */
@NullMarked
package dev.lockstep.internal;

import org.jspecify.annotations.NullMarked;
