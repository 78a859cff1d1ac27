@NullMarked
package dev.lockstep.internal.turnstile;

import org.jspecify.annotations.NullMarked;
