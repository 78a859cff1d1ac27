/** Breaks the rules on purpose. */
@NullMarked
package dev.lockstep.architecture.offending.internal.upper;

import org.jspecify.annotations.NullMarked;
