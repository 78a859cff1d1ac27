/** Breaks the rules on purpose. */
@NullMarked
package dev.lockstep.architecture.offending.internal.turnstile;

import org.jspecify.annotations.NullMarked;
