/**
 * Real servers for tests and benchmarks, each in a process of its own on a free loopback port, and a TCP proxy that
 * breaks connections.
 */
@NullMarked
package dev.lockstep.servers;

import org.jspecify.annotations.NullMarked;
