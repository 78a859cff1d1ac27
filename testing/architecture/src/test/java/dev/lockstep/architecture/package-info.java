/** Rules over the whole project, each shown able to fail on the classes of {@code offending}. */
@NullMarked
package dev.lockstep.architecture;

import org.jspecify.annotations.NullMarked;
