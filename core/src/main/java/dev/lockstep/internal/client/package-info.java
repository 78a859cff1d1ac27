/**
 * The client: what its builder collected, what belongs to it, and how it is closed.
 *
 * <p>May call every other package; nothing calls it but the builder of {@code LockClient}.
 */
@NullMarked
package dev.lockstep.internal.client;

import org.jspecify.annotations.NullMarked;
