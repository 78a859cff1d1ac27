/** The {@code lockstep} command: a thin layer of words over the public API. */
@NullMarked
package dev.lockstep.cli;

import org.jspecify.annotations.NullMarked;
