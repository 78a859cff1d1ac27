/** Breaks the rules on purpose. */
@NullMarked
package dev.lockstep.architecture.offending;

import org.jspecify.annotations.NullMarked;
