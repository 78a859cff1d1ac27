/** Annotations that frameworks understand: {@link dev.lockstep.annotation.Locked} runs a method under a lock. */
@NullMarked
package dev.lockstep.annotation;

import org.jspecify.annotations.NullMarked;
