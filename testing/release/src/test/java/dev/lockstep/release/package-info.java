/** Rehearses a release, and checks what would be published. */
@NullMarked
package dev.lockstep.release;

import org.jspecify.annotations.NullMarked;
