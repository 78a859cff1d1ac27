/** Temporary files that do not outlive their process, not even one that is killed. */
@NullMarked
package dev.lockstep.temp;

import org.jspecify.annotations.NullMarked;
