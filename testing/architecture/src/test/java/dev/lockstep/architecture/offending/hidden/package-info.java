/** Breaks the rules on purpose. */
@NullMarked
package dev.lockstep.architecture.offending.hidden;

import org.jspecify.annotations.NullMarked;
