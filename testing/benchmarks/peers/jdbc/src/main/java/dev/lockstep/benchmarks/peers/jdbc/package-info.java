/** Other lock libraries, as the benchmarks use them. */
@NullMarked
package dev.lockstep.benchmarks.peers.jdbc;

import org.jspecify.annotations.NullMarked;
