/** A client process of the benchmarks: it takes locks on command, and depends on nothing but the JDK. */
@NullMarked
package dev.lockstep.benchmarks.worker;

import org.jspecify.annotations.NullMarked;
