/** Breaks the rules on purpose. */
@NullMarked
package dev.lockstep.architecture.offending.internal.lower;

import org.jspecify.annotations.NullMarked;
