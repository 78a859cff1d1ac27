/** The core's own: not exported, and free to change. */
@NullMarked
package dev.lockstep.internal;

import org.jspecify.annotations.NullMarked;
