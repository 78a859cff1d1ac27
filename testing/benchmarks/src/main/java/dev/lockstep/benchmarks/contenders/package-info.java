/** Lockstep itself, and the yardsticks that use the same client libraries. */
@NullMarked
package dev.lockstep.benchmarks.contenders;

import org.jspecify.annotations.NullMarked;
