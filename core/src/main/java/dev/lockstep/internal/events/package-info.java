/**
 * Notifies listeners and observers of what happens. Calls users' code, so never under a mutex.
 *
 * <p>May call {@code concurrent}. Called by every package that has something to report.
 */
@NullMarked
package dev.lockstep.internal.events;

import org.jspecify.annotations.NullMarked;
