/**
 * The interfaces that an engine implements: a {@link dev.lockstep.spi.BackendProvider} found by URL scheme, and a
 * {@link dev.lockstep.spi.LockBackend} that submits claims.
 *
 * <p>A backend knows nothing of threads, reentrancy, timeouts or interrupts; the core does all that. No call waits for a
 * lock: waiting is the future's job. The clauses that every backend keeps are in {@link
 * dev.lockstep.spi.LockBackend}, and each is a test of the published contract test ({@code lockstep-tck}).
 */
@NullMarked
package dev.lockstep.spi;

import org.jspecify.annotations.NullMarked;
