/** Locks on Redis: single servers, Sentinel, Cluster, and Redlock over independent servers. */
@NullMarked
package dev.lockstep.redis;

import org.jspecify.annotations.NullMarked;
