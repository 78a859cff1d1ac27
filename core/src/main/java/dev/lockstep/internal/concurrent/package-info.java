/**
 * Small tools: a mutex whose effects come after it is left, an executor for users' code.
 *
 * <p>Calls nothing of the core but the SPI. May be called by every package.
 */
@NullMarked
package dev.lockstep.internal.concurrent;

import org.jspecify.annotations.NullMarked;
