/** Small programs on the public API. Each has a {@code main} that takes the engine's URL. */
@NullMarked
package dev.lockstep.examples;

import org.jspecify.annotations.NullMarked;
