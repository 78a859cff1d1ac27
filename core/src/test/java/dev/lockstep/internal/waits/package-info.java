@NullMarked
package dev.lockstep.internal.waits;

import org.jspecify.annotations.NullMarked;
