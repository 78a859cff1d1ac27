/**
 * Mistakes that are planted in a module's sources, to see that its tests find them. The module itself knows nothing of
 * them.
 */
@NullMarked
package dev.lockstep.mutants;

import org.jspecify.annotations.NullMarked;
