@NullMarked
package dev.lockstep.internal.watch;

import org.jspecify.annotations.NullMarked;
