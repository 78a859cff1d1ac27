/** Breaks the rules on purpose. */
@NullMarked
package dev.lockstep.architecture.offending.memory;

import org.jspecify.annotations.NullMarked;
