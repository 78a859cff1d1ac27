/** Lockstep and its yardsticks, measured in one run. */
@NullMarked
package dev.lockstep.benchmarks;

import org.jspecify.annotations.NullMarked;
