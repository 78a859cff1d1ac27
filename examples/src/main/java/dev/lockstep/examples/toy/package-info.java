/**
 * The smallest honest backend, to read beside the guide for authors of backends: an engine that knows nothing but keys
 * that expire, asked through a blocking connection that can fail, and polled by waiters.
 */
@NullMarked
package dev.lockstep.examples.toy;

import org.jspecify.annotations.NullMarked;
