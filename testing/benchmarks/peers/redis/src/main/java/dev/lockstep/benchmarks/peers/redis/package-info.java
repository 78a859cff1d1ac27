/** Other lock libraries, as the benchmarks use them. */
@NullMarked
package dev.lockstep.benchmarks.peers.redis;

import org.jspecify.annotations.NullMarked;
