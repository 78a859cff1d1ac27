/** Breaks the rules on purpose. */
@NullMarked
package dev.lockstep.architecture.offending.internal;

import org.jspecify.annotations.NullMarked;
