/**
 * Lockstep and other lock libraries side by side, in one run: servers are started, client processes get their orders, and
 * what they measured becomes tables, charts and a page. No client runs in this process.
 */
@NullMarked
package dev.lockstep.benchmarks;

import org.jspecify.annotations.NullMarked;
