/** Tests of the console. */
@NullMarked
package dev.lockstep.console;

import org.jspecify.annotations.NullMarked;
