/** Breaks the rules on purpose. */
@NullMarked
package dev.lockstep.architecture.offending.spi;

import org.jspecify.annotations.NullMarked;
