/** The core alone, over the memory engine, measured with JMH. */
@NullMarked
package dev.lockstep.benchmarks.core;

import org.jspecify.annotations.NullMarked;
