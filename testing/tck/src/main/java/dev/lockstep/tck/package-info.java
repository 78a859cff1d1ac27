/**
 * The contract that every backend passes, as tests to inherit.
 *
 * <p>A backend's test class extends {@link dev.lockstep.tck.LockContract} and gives it a {@link
 * dev.lockstep.tck.BackendFixture}: how to open a client of the engine, and how to hurt it. Everything else is here.
 * A fixture names only the {@linkplain dev.lockstep.tck.Capability capabilities} that it has; the tests that
 * need it are then reported as skipped.
 */
@NullMarked
package dev.lockstep.tck;

import org.jspecify.annotations.NullMarked;
