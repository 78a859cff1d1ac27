@NullMarked
package dev.lockstep.internal.time;

import org.jspecify.annotations.NullMarked;
