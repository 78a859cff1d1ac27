/**
 * Torture: many processes use locks while things are broken on purpose; an observer records what happened, and a checker
 * says what held.
 */
@NullMarked
package dev.lockstep.torture;

import org.jspecify.annotations.NullMarked;
