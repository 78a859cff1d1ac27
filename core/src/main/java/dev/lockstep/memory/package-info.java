/**
 * The engine inside the JVM: {@code memory:} and {@code memory:NAME}. It is the reference implementation of the SPI, and
 * simulates the faults that an engine over a network has; see {@link dev.lockstep.memory.MemoryEngine}.
 */
@NullMarked
package dev.lockstep.memory;

import org.jspecify.annotations.NullMarked;
