/** The engine inside the JVM: {@code memory:} and {@code memory:NAME}. */
@NullMarked
package dev.lockstep.memory;

import org.jspecify.annotations.NullMarked;
