/**
 * A seeded simulation of the whole core: clients on one virtual clock, over a lock server that is obviously right,
 * behind a network that is not. One seed is one history; see {@link dev.lockstep.internal.sim.History}.
 */
@NullMarked
package dev.lockstep.internal.sim;

import org.jspecify.annotations.NullMarked;
