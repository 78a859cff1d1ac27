/** Other lock libraries, as the benchmarks use them. */
@NullMarked
package dev.lockstep.benchmarks.peers.etcd;

import org.jspecify.annotations.NullMarked;
